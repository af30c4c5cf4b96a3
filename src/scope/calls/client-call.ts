import { AsyncResource } from 'node:async_hooks';
import { invariant } from '../../base/errors.ts';
import type { Clock, Dict } from '../../base/types.ts';
import { watchSignal } from '../../hooks/abort-guard/signal-watch.ts';
import type {
  AnswerWith,
  BodyReader,
  ClientTimer,
  HookedCall,
  SignalUser,
} from '../../hooks/border.ts';
import { watchOf } from '../../hooks/state.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import type {
  CallHandle,
  CapturedCall,
  EngineScope,
  LiveBody,
  Verdict,
} from '../../orchestrator/model/call.ts';
import type { Sampling } from '../../orchestrator/model/sampling.ts';
import { dropped } from './early-end.ts';

/** A call as a scope gets it: from a hook, or from a gateway, which says more about it. */
export interface IncomingCall<Result = unknown> extends HookedCall<Result> {
  readonly sampling?: Sampling | undefined;
}

/** The part of a scope that decides what its clients get. */
export interface CallOwner {
  readonly clock: Clock;
  /** What the client gets by this verdict. */
  resultOf<Result>(call: ClientCall<Result>, verdict: Verdict): Result | Promise<Result>;
  ended(call: ClientCall): void;
}

/** What is read of a call that is captured. */
export interface CallFacts {
  readonly scope: EngineScope;
  readonly target: Target;
  readonly headers: Dict;
  readonly body: string;
  /** It may yet have to go out as an ordinary call: keep all of it. */
  readonly mayGoOut: boolean;
}

const noHeaders: Dict = {};
const resourceOptions = { requireManualDestroy: true };

/** Its client ends with its deadline. */
const endsAtDeadline = 1;
/** It may yet have to go out as an ordinary call. */
const mayGoOut = 2;
/** Its signal comes by way of a `Request`, which is one hop more from its timer. */
const signalOfRequest = 4;
/** It has its verdict. */
const settled = 8;
/** Its client can be answered with a body that is still to come. */
const takesBytes = 16;

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
  /** Set once the engine has the call. */
  handle: CallHandle | undefined;
  aborted = false;
  abandoned = false;
  /** What the client gets. */
  readonly result: Promise<Result>;
  /**
   * What it takes to send the call out as an ordinary one. Let go when the engine has taken the call, unless it
   * may still have to go out; of a `Request` with a signal a part is kept, see `HookedCall.release`.
   */
  incoming: IncomingCall<Result> | undefined;
  readonly answerWith: AnswerWith<Result>;
  readonly signal: AbortSignal | undefined;
  readonly sampling: Sampling | undefined;
  /** The time limit that the client has set. */
  readonly timer: ClientTimer | undefined;
  /** Ends the ordinary call that we have sent for it. */
  realtimeAbort: AbortController | undefined;
  readonly #owner: CallOwner;
  /** In one number: a hundred thousand calls may wait at once. */
  #traits: number;
  /** Rejects, too, with a rejected promise: a function of its own for that would wait with each call. */
  #resolve!: (result: Result | Promise<never>) => void;

  constructor(owner: CallOwner, incoming: IncomingCall<Result>, facts: CallFacts) {
    super('BatchlingCall', resourceOptions);
    this.#owner = owner;
    this.scope = facts.scope;
    this.target = facts.target;
    this.headers = facts.headers;
    this.body = facts.body;
    this.incoming = incoming;
    this.answerWith = incoming.answerWith;
    this.signal = incoming.signal;
    this.sampling = incoming.sampling;
    this.timer = incoming.timer;
    this.#traits =
      (incoming.endsAtDeadline ? endsAtDeadline : 0) |
      (facts.mayGoOut ? mayGoOut : 0) |
      (incoming.hops === 2 ? signalOfRequest : 0) |
      (incoming.answered === undefined ? takesBytes : 0);
    this.result = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (this.signal) watchSignal(this.signal, this);
    else incoming.capturedAs?.(this);
  }

  get settled(): boolean {
    return this.#has(settled);
  }

  /** Clients that do not use fetch are answered with a text. */
  get takesBytes(): boolean {
    return this.#has(takesBytes);
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
    if (this.#has(settled)) {
      this.realtimeAbort?.abort(reason);
      return;
    }
    this.abandoned = true;
    this.handle?.abandon();
    if (this.#has(endsAtDeadline)) this.fail(reason);
  }

  abort(reason: unknown): void {
    if (this.#has(settled)) {
      this.realtimeAbort?.abort(reason);
      return;
    }
    this.aborted = true;
    this.handle?.abort();
    this.fail(reason);
  }

  /** A call that goes out after all ends when its client has the response. */
  settle(verdict: Verdict): void {
    if (this.#has(settled)) return;
    this.#traits |= settled;
    // The client's time is over already: its deferred abort must not end the call that goes out.
    const isLate = this.abandoned && ('realtime' in verdict || 'bypass' in verdict);
    const live = 'answer' in verdict ? verdict.live : undefined;
    if (!isLate && (!live || this.abandoned)) this.#leaveSignal('answer' in verdict);
    try {
      const result = this.#owner.resultOf(this, verdict);
      if (live) this.#followBody(live);
      if (result instanceof Promise) this.#endWith(result, isLate);
      else if (live) this.#resolve(result);
      else this.#endWell(result);
    } catch (error) {
      watchOf(this.signal)?.leave(this);
      this.#endBadly(error);
    }
  }

  /** The client has the head of its answer. The call ends with the body. */
  #followBody({ ended, left }: LiveBody): void {
    const leaveSignal = () => watchOf(this.signal)?.leave(this);
    // One that has given up before has left its signal.
    if (!this.abandoned) {
      this.realtimeAbort = left;
      left.signal.addEventListener('abort', leaveSignal);
    }
    void ended.then(() => {
      if (!this.abandoned) leaveSignal();
      this.#owner.ended(this as ClientCall);
    });
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

  /** Sends the call after all, by its own client's way. */
  send(signal?: AbortSignal): Promise<Result> {
    invariant(this.incoming, 'A call that was let go goes out');
    return this.incoming.send(signal);
  }

  taken(): void {
    this.headers = noHeaders;
    this.body = '';
    if (this.#has(mayGoOut)) return;
    this.sampling?.taken?.();
    this.incoming = this.incoming?.release();
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
    if (reason !== dropped) this.#resolve(Promise.reject(reason));
  }
}
