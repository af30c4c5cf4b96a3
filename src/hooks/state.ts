import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Dict } from '../base/types.ts';

/** The signature of `fetch`. */
export type Fetch = typeof globalThis.fetch;

/**
 * A scope as hooks know it. Two copies of the package can live in one process, and a hook of one may
 * meet a scope of the other: this shape must stay compatible within a state version.
 */
export interface HookScope {
  readonly open: boolean;
  /** false: only the scope's own `fetch` captures, not the global one. */
  readonly hooked: boolean;
  readonly parent: ScopeOrRealtime | undefined;
  /**
   * Decides what becomes of a request of `node:http` before its body is known. `checksServer`: its
   * client has a check of the server's certificate of its own.
   */
  planRequest(method: string, url: string, checksServer: boolean): RequestPlan;
  /**
   * Handles a request of a client that does not use fetch. `undefined`: the request goes out
   * unchanged. The signal aborts when the client gives up, with `'timeout'` for its own deadline.
   */
  handleRequest(request: RawRequest, signal: AbortSignal): Promise<RawAnswer | undefined>;
  /** A request has left without passing the hooks; it is reported if its URL is that of an LLM call. */
  escaped(method: string, url: string): void;
  /** Whether a mocking tool gets this request of `node:http` instead of the scope; it is reported then. */
  leaveToMock(url: string): boolean;
  /**
   * Handles a fetch made inside the scope; `passOn` sends a call that is not captured. `undefined`: the
   * scope does not care, and the hook makes the call itself, so that its stack shows no frames of ours.
   */
  handleFetch(
    passOn: Fetch,
    input: string | URL | Request,
    init?: RequestInit,
  ): Promise<Response> | undefined;
}

/** `hold`: it gets a fake socket, until its body is complete. `leave`: nobody looks at it. */
export type RequestPlan = 'leave' | 'hold' | RequestJudge;

/** Judges a request that goes out over its real socket while its first bytes go by. */
export interface RequestJudge {
  /** The URL alone says that it is an LLM call: no byte is needed. */
  readonly isCertain: boolean;
  /** Reports an LLM call. Returns the error that ends it before its body is complete, if it must not go out. */
  judge(headers: Dict, start: string): Error | undefined;
}

/** A complete request as it stands on the wire. */
export interface RawRequest {
  readonly method: string;
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Dict;
  readonly body: Uint8Array;
  /** Its client checks the server itself, so the request cannot be batched; its body may be missing. */
  readonly checksServer?: boolean;
  /**
   * For a request that goes out after all: the status of its response as soon as the head has
   * arrived; `undefined` when no response came.
   */
  answered(): Promise<number | undefined>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Dict;
  readonly body: string;
}

/** Marks code inside `realtime(fn)`: its calls are not captured. */
export interface RealtimeMark {
  readonly realtime: true;
}

/** What the async context of some code holds. */
export type ScopeOrRealtime = HookScope | RealtimeMark;

/** A captured call as the watch of its signal knows it. */
export interface SignalUser {
  /** How many aborts may lie between a timer and the signal for the abort to count as a deadline. */
  readonly hops: number;
  readonly clock: Clock;
  /** A timer has aborted the signal: the client has given up. */
  giveUp(reason: unknown): void;
  /** The user has aborted the signal. */
  abort(reason: unknown): void;
}

/** The watch of a signal of captured calls. Another copy of the package may have made it. */
export interface WatchedSignal {
  add(user: SignalUser): void;
  /** The call has its answer; it leaves when its client has read the answer. */
  answered(user: SignalUser): void;
  leave(user: SignalUser): void;
  /** The client has begun to read its answer as a stream, or has reached the end of it. */
  streams(user: SignalUser, isOpen: boolean): void;
  /** Defers a timer's abort; `abort` is called when it is delivered. */
  holdBack(reason: unknown, abort: () => void): void;
  /** Resolves when the deferred abort is delivered; `undefined`: there is none. */
  whenDelivered(): Promise<void> | undefined;
  /** Runs `send` while the signal shows its true state. */
  reveal<T>(send: () => T): T;
}

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
  /** The calls of the whole process that wait; opaque here. */
  calls: unknown;
  /** Dry runs of scopes that nobody has been told of yet; opaque here. */
  readonly dryRuns: Set<unknown>;
  /** The newest long timer of the synchronous stretch of code that runs now. */
  newestTimer: ClientTimer | undefined;
}

/** What `setTimeout` returns; in some environments that is a number. */
export interface ClientTimer {
  unref?(): unknown;
}

export interface Patch {
  readonly original: unknown;
  /** The property as it was; `undefined` if it was inherited. */
  readonly before: PropertyDescriptor | undefined;
  owners: number;
}

const key = Symbol.for('batchling.state.v1');

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
    calls: undefined,
    dryRuns: new Set(),
    newestTimer: undefined,
  };
  // Not enumerable: code that copies or compares globals does not meet it.
  Object.defineProperty(globalThis, key, { value });
  return value;
}

const state = sharedState();

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
