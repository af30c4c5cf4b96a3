import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock, Dict } from '../types.ts';

/** The signature of `fetch`, as hooks pass it on. */
export type Fetch = typeof globalThis.fetch;

/**
 * What a hook knows of a scope. Two copies of the package can live in one process, and the scope of
 * one may meet the hook of the other: this shape must stay compatible within a state version.
 */
export interface HookScope {
  readonly open: boolean;
  /** false: only the scope's own `fetch` captures, not the global one. */
  readonly hooked: boolean;
  readonly parent: Surroundings | undefined;
  /** Whether a request to this URL may be captured; its body is not known yet. */
  mayCapture(method: string, url: string): boolean;
  /**
   * Handles a request of a client that is not fetch. `undefined`: it goes out as it is. An abort of
   * the signal says that the client has given up; its reason is `'timeout'` for its own deadline.
   */
  handleRequest(request: RawRequest, signal: AbortSignal): Promise<RawAnswer | undefined>;
  /** A call that should have been captured has left on a way of its own. */
  escaped(url: string): void;
  /** Handles a fetch made inside the scope; `passOn` is the way out for what is not captured. */
  handleFetch(passOn: Fetch, input: string | URL | Request, init?: RequestInit): Promise<Response>;
}

/** A request as it stands on the wire, read to its end. */
export interface RawRequest {
  readonly method: string;
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Dict;
  readonly body: Uint8Array;
  /**
   * Once it goes out as it is: the status of its response, when its head is there; `undefined` when
   * none came.
   */
  answered(): Promise<number | undefined>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Dict;
  readonly body: string;
}

/** Marks code inside `realtime(fn)`. */
export interface RealtimeMark {
  readonly realtime: true;
}

export type Surroundings = HookScope | RealtimeMark;

/** A captured call, as the watch of its signal knows it. */
export interface SignalUser {
  /** How many aborts may lie between a timer and its signal for the timer to count as a deadline. */
  readonly hops: number;
  readonly clock: Clock;
  /** A timer wants to abort the signal: the client has lost patience. */
  giveUp(reason: unknown): void;
  /** The user does not want it any more. */
  abort(reason: unknown): void;
}

/** A signal of captured calls. Its watch may have been made by another copy of the package. */
export interface WatchedSignal {
  add(user: SignalUser): void;
  /** The call has its answer; it leaves when its client has read it. */
  answered(user: SignalUser): void;
  leave(user: SignalUser): void;
  /** The client has begun to read its answer as a stream, or has come to the end of it. */
  streams(user: SignalUser, isOpen: boolean): void;
  /** A timer wants to abort the signal; `abort` does so when the time has come. */
  holdBack(reason: unknown, abort: () => void): void;
  /** Resolves when the abort by a timer is delivered; `undefined`: there is none. */
  whenDelivered(): Promise<void> | undefined;
  /** Runs `send` while the signal shows whether a timer has aborted it. */
  reveal<T>(send: () => T): T;
}

interface SharedState {
  readonly scopes: AsyncLocalStorage<Surroundings>;
  /** The scope of the whole process, set by `batchling/register`. */
  processScope: HookScope | undefined;
  /** What we put in place of something, with what it replaced. */
  readonly patches: WeakMap<object, Patch>;
  /** Signals of captured calls, for which the abort of a timer is deferred. */
  readonly watchedSignals: WeakMap<AbortSignal, WatchedSignal>;
  /** Signals that something else than captured calls uses, too: it must hear of a timer at once. */
  readonly sharedSignals: WeakSet<AbortSignal>;
  /** Requests of `node:http` that the detector need not report. */
  readonly capturedRequests: WeakSet<object>;
  /** How many `abort()` calls are running, one inside the other. */
  abortDepth: number;
  /** How many aborts of timers are being delivered that were held back. */
  lateDeadlines: number;
  /** Names this launch of the program, unless `BATCHLING_RUN` does. Made when it is needed. */
  run: string | undefined;
  /** Engines by version and store; opaque here. */
  readonly engines: Map<string, unknown>;
}

export interface Patch {
  readonly original: unknown;
  owners: number;
  /** The holder had it from its prototype. */
  readonly inherited?: boolean;
}

const key = Symbol.for('batchling.state.v1');

/** All state that copies of the package share. */
export function sharedState(): SharedState {
  const holder = globalThis as { [key]?: SharedState };
  holder[key] ??= {
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
  };
  return holder[key];
}

const state = sharedState();

/** The nearest open scope on the way out, then the process-wide one; `undefined`: pass through. */
export function currentScope(): HookScope | undefined {
  let around = state.scopes.getStore();
  while (around !== undefined) {
    if ('realtime' in around) return undefined;
    if (around.open && around.hooked) return around;
    around = around.parent;
  }
  return state.processScope?.open ? state.processScope : undefined;
}
