import { AsyncResource } from 'node:async_hooks';
import { setMaxListeners } from 'node:events';
import { dropped } from './early-end.ts';
import { isStraightDeadline, mask, shield, unshield } from './hooks/deadline-guard.ts';
import { isRequest } from './hooks/read-call.ts';
import { type Fetch, sharedState } from './hooks/state.ts';
import type { CapturedCall, EngineScope, PendingRequest, Verdict } from './orchestrator/pending.ts';
import type { Target } from './orchestrator/router.ts';
import type { Dict } from './types.ts';

/** A fetch as it was made, with the way out. */
export interface Outgoing {
  readonly passOn: Fetch;
  readonly input: string | URL | Request;
  readonly init: RequestInit | undefined;
}

export function signalOf({ input, init }: Outgoing): AbortSignal | undefined {
  return init?.signal ?? (isRequest(input) ? input.signal : undefined) ?? undefined;
}

/**
 * As an ordinary call, decided once: below another library's wrapper there may be an older one of
 * ours, which must not capture it again.
 */
export function goOut({ passOn, input, init }: Outgoing): Promise<Response> {
  return sharedState().scopes.run({ realtime: true }, () => passOn(input, init));
}

/** Who is told how a call went. */
export interface CallOwner {
  ended(call: CapturedCall): void;
  /** The user does not want it any more. */
  aborted(call: CapturedCall): void;
  /** The client has lost patience; whoever asks the same next takes its place. */
  abandoned(call: CapturedCall): void;
}

export interface CallFacts {
  readonly scope: EngineScope;
  readonly target: Target;
  readonly headers: Dict;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
  /** Missing for clients that are not fetch: they find the way out themselves. */
  readonly outgoing?: Outgoing;
  /** It may yet have to go out as an ordinary call: keep all of it. */
  readonly mayGoOut?: boolean;
  /** A client that ends with its deadline, rather than going on to wait for us. */
  readonly endsAtDeadline?: boolean;
}

const noHeaders: Dict = {};

/** Its client ends with its deadline. */
const endsAtDeadline = 1;
/** It may yet have to go out as an ordinary call. */
const mayGoOut = 2;
/** Its signal comes by way of a `Request`, which is one hop more from its timer. */
const signalOfRequest = 4;
/** It has its verdict. */
const settled = 8;

/** Makes of a verdict what the client waits for. */
export type Convert<Result> = (
  call: ClientCall<Result>,
  verdict: Verdict,
) => Result | Promise<Result>;

/**
 * A captured call of a client. A class with methods and not a handful of closures: a hundred thousand
 * of them wait at once, and closures would keep headers and bodies alive that nobody needs any more.
 * It is an async resource, because what goes out after all must go out in its caller's context.
 */
export class ClientCall<Result = unknown> extends AsyncResource implements CapturedCall {
  readonly scope: EngineScope;
  readonly target: Target;
  headers: Dict;
  body: string;
  pending: PendingRequest | undefined;
  aborted = false;
  abandoned = false;
  /** What the client gets. */
  readonly result: Promise<Result>;
  /** Until the engine has taken the call: it may still have to go out as an ordinary one. */
  outgoing: Outgoing | undefined;
  readonly signal: AbortSignal | undefined;
  /** Ends what is on its way as an ordinary call of ours. */
  wayOut: AbortController | undefined;
  readonly #owner: CallOwner;
  /** In one number: a hundred thousand calls may wait at once. */
  #traits: number;
  readonly #convert: Convert<Result>;
  #resolve!: (result: Result) => void;
  #reject!: (reason: unknown) => void;

  constructor(owner: CallOwner, facts: CallFacts, convert: Convert<Result>) {
    super('BatchlingCall', { requireManualDestroy: true });
    this.#owner = owner;
    this.#convert = convert;
    this.scope = facts.scope;
    this.target = facts.target;
    this.headers = facts.headers;
    this.body = facts.body;
    this.outgoing = facts.outgoing;
    this.signal = facts.signal;
    this.#traits =
      (facts.endsAtDeadline ? endsAtDeadline : 0) |
      (facts.mayGoOut ? mayGoOut : 0) |
      (facts.outgoing && !facts.outgoing.init?.signal ? signalOfRequest : 0);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (this.signal) this.#listen(this.signal);
  }

  get settled(): boolean {
    return this.#has(settled);
  }

  #has(trait: number): boolean {
    return (this.#traits & trait) !== 0;
  }

  #listen(signal: AbortSignal): void {
    // One signal may serve thousands of calls; Node would warn at the eleventh.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', this, { once: true });
    // A client that ends with its deadline must be heard; the others go on to wait for us.
    if (!this.#has(endsAtDeadline)) shield(signal);
  }

  /** The signal's listener. */
  handleEvent(): void {
    const signal = this.signal as AbortSignal;
    if (!isStraightDeadline(signal.reason, this.#has(signalOfRequest) ? 2 : 1)) {
      this.abort(signal.reason);
      return;
    }
    this.abandoned = true;
    this.#owner.abandoned(this);
    if (this.#has(endsAtDeadline)) this.fail(signal.reason);
    else mask(signal);
  }

  abort(reason: unknown): void {
    if (this.#has(settled)) {
      this.wayOut?.abort(reason);
      return;
    }
    this.aborted = true;
    this.#owner.aborted(this);
    this.fail(reason);
  }

  /** What goes out after all has not ended before its client has the response. */
  settle(verdict: Verdict): void {
    if (this.#has(settled)) return;
    this.#stopListening();
    try {
      const result = this.#convert(this, verdict);
      if (result instanceof Promise) this.#endWith(result);
      else this.#endWell(result);
    } catch (error) {
      this.#endBadly(error);
    }
  }

  fail(reason: unknown): void {
    if (this.#has(settled)) return;
    this.#stopListening();
    this.#endBadly(reason);
  }

  drop(): void {
    if (!this.#has(settled)) this.abort(dropped);
  }

  /**
   * The engine has all it needs. Of the fetch itself only a `Request` is kept, because its signal
   * follows its parent no longer than the `Request` itself is alive.
   */
  taken(): void {
    this.headers = noHeaders;
    this.body = '';
    if (this.#has(mayGoOut)) return;
    const { outgoing } = this;
    this.outgoing =
      outgoing && this.signal && isRequest(outgoing.input)
        ? { ...outgoing, init: undefined }
        : undefined;
  }

  #stopListening(): void {
    this.#traits |= settled;
    if (this.signal === undefined) return;
    this.signal.removeEventListener('abort', this);
    unshield(this.signal);
  }

  #endWith(result: Promise<Result>): void {
    result.then(
      (value) => this.#endWell(value),
      (reason: unknown) => this.#endBadly(reason),
    );
  }

  #endWell(result: Result): void {
    this.#owner.ended(this);
    this.#resolve(result);
  }

  #endBadly(reason: unknown): void {
    this.#owner.ended(this);
    if (reason !== dropped) this.#reject(reason);
  }
}
