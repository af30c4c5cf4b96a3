import type { Dict } from '../../base/types.ts';
import type { RequestId } from '../../ledger/ledger.ts';
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

/** What the engine does where a caller leaves its request. */
export interface Departures {
  /**
   * If the caller was the last one of its request, a request that is in no batch is never sent. If it was the
   * last one of a batch that is not created yet, that batch is not created.
   */
  callerLeft(request: Request): void;
  /** Another owner has the request, and is waited for. */
  isWithOther(request: Request): boolean;
}

/** One call that waits for its request. Several callers may wait for one request. */
export class Caller implements CallHandle {
  readonly call: CapturedCall;
  /** Set once the call is parsed, and anew when it re-joins a request of a batch. */
  request: Request | undefined = undefined;
  /** Tells a good answer as the stream that the call asked for. */
  stream: StreamDialect | undefined = undefined;
  /** Headers of the call that are no credential; kept where it may go out as an ordinary call of ours. */
  headers: Dict | undefined = undefined;
  /** When its time is up, if there is such a moment. */
  dueAt: number | undefined = undefined;
  /** Its time is up. */
  isDue = false;
  /** It has been told its verdict, or has gone. */
  isSettled = false;
  /** The call carries an idempotency key, so others may wait for the very same request. */
  isKeyed = false;
  /** Its place was given to the next call that asks the same, though the call itself was not given up. */
  isLeftBehind = false;
  /** A call that needs several requests: a caller for each of them. */
  parts: readonly Caller[] | undefined = undefined;
  /** Set for a caller of one of those requests. */
  part: CallPart | undefined = undefined;
  readonly #departures: Departures;

  constructor(call: CapturedCall, departures: Departures) {
    this.call = call;
    this.#departures = departures;
  }

  get scope(): EngineScope {
    return this.call.scope;
  }

  get isAbandoned(): boolean {
    return this.isLeftBehind || this.call.abandoned;
  }

  get isSent(): boolean {
    return this.#requests().some(({ isCommitted }) => isCommitted);
  }

  get isElsewhere(): boolean {
    return this.#requests().some(({ stage }) => stage === 'elsewhere');
  }

  get isSubmitted(): boolean {
    return (this.parts ?? [this]).every(
      ({ isSettled, request }) =>
        isSettled || (request !== undefined && this.#isSubmittedAs(request)),
    );
  }

  get isUnclear(): boolean {
    return this.#requests().some(({ batch }) => batch?.isUnclear === true);
  }

  get row(): RequestId | undefined {
    return this.parts ? undefined : this.request?.row;
  }

  get batchToken(): string | undefined {
    const batches = this.#requests().map(({ batch }) => batch);
    return batches.find((batch) => batch?.remote !== undefined)?.token;
  }

  abort(): void {
    for (const caller of this.parts ?? [this]) {
      const { request } = caller;
      if (!request?.settle(caller)) continue;
      caller.#giveOccurrenceBack(request);
      this.#departures.callerLeft(request);
    }
  }

  abandon(): void {
    for (const caller of this.parts ?? [this]) {
      const { request } = caller;
      // Still on its way in: the intake sees the mark on the call.
      if (request === undefined || caller.isSettled || request.row === 0) continue;
      request.queue.clientRetries.gaveUp(caller, request);
    }
  }

  read(): void {
    for (const caller of this.parts ?? [this]) caller.request?.queue.clientRetries.read(caller);
  }

  leaveBehind(): void {
    for (const caller of this.parts ?? [this]) {
      const { request } = caller;
      if (request === undefined || caller.isSettled) continue;
      caller.#giveOccurrenceBack(request);
      caller.isLeftBehind = true;
    }
  }

  /** The request stays in its batch: the next call that asks the same gets that answer, and pays for no other one. */
  #giveOccurrenceBack(request: Request): void {
    // Where others may have a right to it already, the next one gets another sample.
    if (!request.isCommitted || this.isAbandoned || this.isKeyed) return;
    if (request.waiting.some((other) => other !== this)) return;
    request.queue.clientRetries.giveBack(this, request);
  }

  #isSubmittedAs(request: Request): boolean {
    if (request.stage === 'elsewhere') return this.#departures.isWithOther(request);
    return request.batch?.isUnderWay === true;
  }

  #requests(): readonly Request[] {
    const requests = (this.parts ?? [this]).map(({ request }) => request);
    return requests.filter((request) => request !== undefined);
  }
}
