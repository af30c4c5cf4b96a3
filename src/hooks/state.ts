import { AsyncLocalStorage } from 'node:async_hooks';
import type { ClientTimer, HookScope, ScopeOrRealtime, WatchedSignal } from './border.ts';

interface SharedState {
  readonly scopes: AsyncLocalStorage<ScopeOrRealtime>;
  /** The scope of the whole process, set by `batchling/register`. */
  processScope: HookScope | undefined;
  /** Our wrappers, each with what it replaced. */
  readonly patches: WeakMap<object, Patch>;
  /** Signals of captured calls: a timer's abort is deferred for them. */
  readonly watchedSignals: WeakMap<AbortSignal, WatchedSignal>;
  /** Signals that are also used outside of captured calls: a timer's abort is not held back for them. */
  readonly sharedSignals: WeakSet<AbortSignal>;
  /** Requests of `node:http` that a scope has decided on: they are not reported when they leave. */
  readonly capturedRequests: WeakSet<object>;
  /** How many `abort()` calls are running inside one another. */
  abortDepth: number;
  /** How many held-back aborts are being delivered right now. */
  lateDeadlines: number;
  /** The name of the run where `BATCHLING_RUN` gives none. Made when it is needed. */
  run: string | undefined;
  /** Engines by version, run and store; opaque here. */
  readonly engines: Map<string, unknown>;
  /** The calls of the whole process that wait, by version; opaque here. */
  readonly calls: Map<string, unknown>;
  /** Dry runs of scopes that nobody has been told of yet. */
  readonly dryRuns: Set<SharedDryRun>;
  /** The newest long timer of the synchronous stretch of code that runs now. */
  newestTimer: ClientTimer | undefined;
}

/** The dry run of one scope, as the end of the process sees it. */
export interface SharedDryRun {
  /** Calls of it wait, and it will stop. */
  readonly isUnderWay: boolean;
  tell(): Promise<unknown>;
}

export interface Patch {
  readonly original: unknown;
  /** The property as it was; `undefined` if it was inherited. */
  readonly before: PropertyDescriptor | undefined;
  owners: number;
}

const key = Symbol.for('batchling.state.v2');

/** The state that all copies of the package in this process share. */
export function sharedState(): SharedState {
  const holder = globalThis as { [key]?: SharedState };
  if (holder[key] !== undefined) return holder[key];
  const value: SharedState = {
    scopes: new AsyncLocalStorage(),
    processScope: undefined,
    patches: new WeakMap(),
    watchedSignals: new WeakMap(),
    sharedSignals: new WeakSet(),
    capturedRequests: new WeakSet(),
    abortDepth: 0,
    lateDeadlines: 0,
    run: undefined,
    engines: new Map(),
    calls: new Map(),
    dryRuns: new Set(),
    newestTimer: undefined,
  };
  // Not enumerable: code that copies or compares globals does not meet it.
  Object.defineProperty(globalThis, key, { value });
  return value;
}

const state = sharedState();

/** The watch of a signal; `undefined` where no captured call uses it. */
export function watchOf(signal: AbortSignal | undefined): WatchedSignal | undefined {
  return signal && state.watchedSignals.get(signal);
}

/**
 * The nearest open scope on the parent chain, then the process-wide one. Where all are closed, the
 * nearest closed one: it captures nothing, and reports LLM calls that come too late. `undefined`: the
 * call passes through.
 */
export function currentScope(): HookScope | undefined {
  let current = state.scopes.getStore();
  let closed: HookScope | undefined;
  while (current !== undefined) {
    if ('realtime' in current) return undefined;
    if (current.hooked) {
      if (current.open) return current;
      closed ??= current;
    }
    current = current.parent;
  }
  return state.processScope?.open ? state.processScope : closed;
}
