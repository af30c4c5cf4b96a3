import type { StreamDialect } from '../../streams/stream-dialect.ts';
import type { BatchlingEvents } from '../events/events.ts';
import type { CallHandle, CapturedCall, Delivery, EngineScope, RealtimeRoute } from './call.ts';
import type { Request } from './request.ts';

/** Where the answer of a caller goes that waits for one of several requests of its call. */
export interface CallPart {
  answered(event: BatchlingEvents['call:answered'], delivery: Delivery): void;
  /** It is to go out as an ordinary call, which only the whole call can. */
  goesRealtime(route: RealtimeRoute): void;
  /** No batch can be had for it, so the whole call goes out. */
  goesUnbatched(reason: string): void;
  /** Parts of the call are in a batch, or have their answer. */
  hasBegun(): boolean;
}

/** Who acts on what a scope says about its call. */
export interface CallControl {
  abort(caller: Caller): void;
  abandon(caller: Caller): void;
  read(caller: Caller): void;
  leaveBehind(caller: Caller): void;
  /** Nothing is left to do for it here but to wait: for the provider, or for another owner. */
  isSubmitted(request: Request): boolean;
}

/** One call that waits for its request. Several callers may wait for one request. */
export class Caller implements CallHandle {
  readonly call: CapturedCall;
  /** Once the call is parsed. Another one when it re-joins a request of a batch. */
  request: Request | undefined = undefined;
  /** Tells a good answer as the stream that the call asked for. */
  stream: StreamDialect | undefined = undefined;
  /** When its time is up, if there is such a moment. */
  dueAt: number | undefined = undefined;
  /** Its time is up. */
  isDue = false;
  /** It has been told its verdict, or has gone. */
  isSettled = false;
  /** The call carries an idempotency key, so others may wait for the very same request. */
  isKeyed = false;
  /** Its place was given to whoever asks next, though the call itself was not given up. */
  isLeftBehind = false;
  /** A call that needs several requests: a caller for each of them. */
  parts: readonly Caller[] | undefined = undefined;
  /** For one of those. */
  part: CallPart | undefined = undefined;
  readonly #control: CallControl;

  constructor(call: CapturedCall, control: CallControl) {
    this.call = call;
    this.#control = control;
  }

  get scope(): EngineScope {
    return this.call.scope;
  }

  get isAbandoned(): boolean {
    return this.isLeftBehind || this.call.abandoned;
  }

  get isSent(): boolean {
    return this.#requests().some(({ isPlanned }) => isPlanned);
  }

  get isElsewhere(): boolean {
    return this.#requests().some(({ stage }) => stage === 'elsewhere');
  }

  get isSubmitted(): boolean {
    return (this.parts ?? [this]).every(
      ({ isSettled, request }) =>
        isSettled || (request !== undefined && this.#control.isSubmitted(request)),
    );
  }

  get batchToken(): string | undefined {
    const batches = this.#requests().map(({ batch }) => batch);
    return batches.find((batch) => batch?.remote !== undefined)?.token;
  }

  abort(): void {
    for (const caller of this.parts ?? [this]) this.#control.abort(caller);
  }

  abandon(): void {
    for (const caller of this.parts ?? [this]) this.#control.abandon(caller);
  }

  read(): void {
    for (const caller of this.parts ?? [this]) this.#control.read(caller);
  }

  leaveBehind(): void {
    for (const caller of this.parts ?? [this]) this.#control.leaveBehind(caller);
  }

  #requests(): readonly Request[] {
    const requests = (this.parts ?? [this]).map(({ request }) => request);
    return requests.filter((request) => request !== undefined);
  }
}
