import { AsyncResource } from 'node:async_hooks';
import type { Clock, Dict } from '../../base/types.ts';
import { watchOf, watchSignal } from '../../hooks/abort-guard/signal-watch.ts';
import type { BodyReader } from '../../hooks/fetch/read-body.ts';
import { isRequest } from '../../hooks/fetch/read-call.ts';
import { type ClientTimer, type Fetch, type SignalUser, sharedState } from '../../hooks/state.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import type {
  CallHandle,
  CapturedCall,
  EngineScope,
  Verdict,
} from '../../orchestrator/model/call.ts';
import type { Sampling } from '../../orchestrator/model/sampling.ts';
import { dropped } from './early-end.ts';

/** A fetch as it was made, with the way out. */
export interface Outgoing {
  readonly passOn: Fetch;
  readonly input: string | URL | Request;
  readonly init: RequestInit | undefined;
  /** The time limit that the client has set. */
  readonly timer?: ClientTimer | undefined;
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
  readonly clock: Clock;
  ended(call: ClientCall): void;
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
  /** What a gateway says about the call. */
  readonly sampling?: Sampling | undefined;
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
export class ClientCall<Result = unknown>
  extends AsyncResource
  implements CapturedCall, SignalUser, BodyReader
{
  readonly scope: EngineScope;
  readonly target: Target;
  headers: Dict;
  body: string;
  /** Once the engine has it. */
  handle: CallHandle | undefined;
  aborted = false;
  abandoned = false;
  /** What the client gets. */
  readonly result: Promise<Result>;
  /** Until the engine has taken the call: it may still have to go out as an ordinary one. */
  outgoing: Outgoing | undefined;
  readonly signal: AbortSignal | undefined;
  readonly sampling: Sampling | undefined;
  /** The time limit that the client has set. */
  readonly timer: ClientTimer | undefined;
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
    this.sampling = facts.sampling;
    this.timer = facts.outgoing?.timer;
    this.#traits =
      (facts.endsAtDeadline ? endsAtDeadline : 0) |
      (facts.mayGoOut ? mayGoOut : 0) |
      (facts.outgoing && !facts.outgoing.init?.signal ? signalOfRequest : 0);
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (this.signal) watchSignal(this.signal, this);
  }

  get settled(): boolean {
    return this.#has(settled);
  }

  get hops(): number {
    return this.#has(signalOfRequest) ? 2 : 1;
  }

  get clock(): Clock {
    return this.#owner.clock;
  }

  #has(trait: number): boolean {
    return (this.#traits & trait) !== 0;
  }

  /** A client that ends with its deadline must be told; the others go on to wait for us. */
  giveUp(reason: unknown): void {
    this.abandoned = true;
    this.handle?.abandon();
    if (this.#has(endsAtDeadline)) this.fail(reason);
  }

  abort(reason: unknown): void {
    if (this.#has(settled)) {
      this.wayOut?.abort(reason);
      return;
    }
    this.aborted = true;
    this.handle?.abort();
    this.fail(reason);
  }

  /** What goes out after all has not ended before its client has the response. */
  settle(verdict: Verdict): void {
    if (this.#has(settled)) return;
    this.#traits |= settled;
    // Its client's time is over already: going out, it still has to outlive that.
    const isLate = this.abandoned && ('realtime' in verdict || 'bypass' in verdict);
    if (!isLate) this.#leaveSignal('answer' in verdict);
    try {
      const result = this.#convert(this, verdict);
      if (result instanceof Promise) this.#endWith(result, isLate);
      else this.#endWell(result);
    } catch (error) {
      watchOf(this.signal)?.leave(this);
      this.#endBadly(error);
    }
  }

  /** A timer's abort waits until the client has read the answer. */
  #leaveSignal(isAnswered: boolean): void {
    const watch = watchOf(this.signal);
    if (this.abandoned && isAnswered) watch?.answered(this);
    else watch?.leave(this);
  }

  read(): void {
    this.handle?.read();
    watchOf(this.signal)?.leave(this);
  }

  streams(isOpen: boolean): void {
    if (!isOpen) this.handle?.read();
    watchOf(this.signal)?.streams(this, isOpen);
  }

  fail(reason: unknown): void {
    if (this.#has(settled)) return;
    this.#traits |= settled;
    watchOf(this.signal)?.leave(this);
    this.#endBadly(reason);
  }

  drop(): void {
    if (!this.#has(settled)) this.abort(dropped);
  }

  /**
   * The engine has all it needs. Of the fetch itself only a `Request` is kept, because its signal
   * follows its parent no longer than the `Request` itself is alive.
   */
  taken(mayBeUnserved: boolean): void {
    this.headers = noHeaders;
    this.body = '';
    if (mayBeUnserved || this.#has(mayGoOut)) return;
    this.sampling?.taken?.();
    const { outgoing } = this;
    this.outgoing =
      outgoing && this.signal && isRequest(outgoing.input)
        ? { ...outgoing, init: undefined }
        : undefined;
  }

  #endWith(result: Promise<Result>, isLate: boolean): void {
    result.then(
      (value) => {
        if (isLate) this.#leaveSignal(true);
        this.#endWell(value);
      },
      (reason: unknown) => {
        if (isLate) this.#leaveSignal(false);
        this.#endBadly(reason);
      },
    );
  }

  #endWell(result: Result): void {
    this.#owner.ended(this as ClientCall);
    this.#resolve(result);
  }

  #endBadly(reason: unknown): void {
    this.#owner.ended(this as ClientCall);
    if (reason !== dropped) this.#reject(reason);
  }
}
