import { docsPage } from '../../base/docs-page.ts';
import type { Clock, Dict } from '../../base/types.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { Wire } from '../../http/wire.ts';
import type { QueueId } from '../../ledger/ledger.ts';
import type { FlushReason } from '../events/events.ts';
import type { EngineScope, Lane, OrdinaryLane } from '../model/call.ts';
import type { Request } from '../model/request.ts';
import type {
  BodyStore,
  ClientRetryMemory,
  QueueAccount,
  RequestGate,
  RequestQueue,
} from '../model/request-queue.ts';
import { QueueTerms, type TermsOf } from './queue-terms.ts';

/** What a queue is made of. */
export type QueueSpec = TermsOf &
  Pick<
    RequestQueue,
    | 'id'
    | 'account'
    | 'wire'
    | 'isConfigured'
    | 'lane'
    | 'lacks'
    | 'batchHeaders'
    | 'bodies'
    | 'clientRetries'
    | 'gate'
  > & {
    /** Takes a request that goes out as an ordinary call. */
    readonly sendOrdinary: (request: Request, lane: OrdinaryLane) => void;
  };

/** A slow queue must not take all the bandwidth and memory there is. */
const transfersAtOnce = 4;

/** Calls that waited for answers come this soon after them, in milliseconds; later ones have another reason. */
const soon = 2_000;

export type Flush = (queue: Queue, requests: readonly Request[], reason: FlushReason) => void;

/**
 * Requests that wait for company. A queue is flushed at `batchSize` requests, when none has joined it for
 * `window`, or `maxWindow` after the one that opened it. In the lanes of ordinary calls none waits.
 *
 * One timer per queue, not per request: a joining request only moves `#lastAt`, and the timer looks at it
 * when it fires and sleeps on if the queue was not quiet.
 */
export class Queue extends QueueTerms implements RequestQueue {
  readonly id: QueueId;
  readonly account: QueueAccount;
  readonly wire: Wire;
  readonly isConfigured: boolean;
  readonly lacks: string | undefined;
  readonly batchHeaders: Dict;
  readonly bodies: BodyStore;
  readonly clientRetries: ClientRetryMemory;
  readonly gate: RequestGate | undefined;
  readonly units = new WeakMap<Request, number>();
  readonly #sendOrdinary: QueueSpec['sendOrdinary'];
  #lane: Lane;
  readonly #clock: Clock;
  readonly #flush: Flush;
  readonly #transfers = new Semaphore();
  #waiting = new Set<Request>();
  #openedAt = 0;
  #lastAt = 0;
  #timer: unknown;
  /** How many requests were flushed so far. */
  #flushed = 0;
  /** The scope of the requests that were flushed last. */
  #flushedFor: EngineScope | undefined;
  /** How many requests a batch has answered so far. */
  #answered = 0;
  /** When a batch answered one last. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** The user knows that batches of this queue run one after another. */
  #isTold = false;
  /** The timer flushes at once what scopes that end have waiting. */
  #isHurried = false;

  constructor(spec: QueueSpec, clock: Clock, flush: Flush) {
    super(spec);
    this.id = spec.id;
    this.account = spec.account;
    this.wire = spec.wire;
    this.isConfigured = spec.isConfigured;
    this.lacks = spec.lacks;
    this.batchHeaders = spec.batchHeaders;
    this.bodies = spec.bodies;
    this.clientRetries = spec.clientRetries;
    this.gate = spec.gate;
    this.#sendOrdinary = spec.sendOrdinary;
    this.#lane = spec.lane;
    this.#clock = clock;
    this.#flush = flush;
  }

  /** A server that turns out to have no batch API is sent ordinary calls. */
  get lane(): Lane {
    return this.#lane === 'batch' && this.account.unserved !== undefined ? 'realtime' : this.#lane;
  }

  leaveFlex(): void {
    if (this.#lane === 'flex') this.#lane = 'batch';
  }

  get mayBeUnserved(): boolean {
    return this.isConfigured && !this.account.hasServed;
  }

  async transfer<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#transfers.acquire(transfersAtOnce, signal);
    try {
      return await work();
    } finally {
      this.#transfers.release();
    }
  }

  add(request: Request): void {
    const { lane } = this;
    if (lane !== 'batch') {
      if (this.gate) this.gate.pass(this, [request]);
      else this.#sendOrdinary(request, lane);
      return;
    }
    const now = this.#clock.now();
    if (this.#waiting.size === 0) this.#openedAt = now;
    this.#lastAt = now;
    this.#waiting.add(request);
    request.enterQueue();
    if (this.#waiting.size >= this.batchSize) {
      this.#take('size');
    } else if (request.scope.flushing && !this.#isHurried) {
      this.close();
      this.#isHurried = true;
      this.#arm(0);
    } else if (this.#timer === undefined || this.#waiting.size === this.limits.leastItems) {
      // Enough for a batch: it does not wait for the latest moment any more.
      this.close();
      this.#arm(this.#due() - now);
    }
  }

  answered(): void {
    this.#answered += 1;
    this.#answeredAt = this.#clock.now();
  }

  remove(request: Request): void {
    this.#waiting.delete(request);
  }

  /** Sends what this scope (or anyone) has waiting, now. */
  flush(scope?: EngineScope): void {
    if (scope === undefined) {
      this.#take('flush');
      return;
    }
    const own = [...this.#waiting].filter(({ callers }) =>
      callers.some((caller) => caller.scope === scope && !caller.isSettled),
    );
    for (const request of own) this.#waiting.delete(request);
    this.#send(own, 'flush');
  }

  close(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #due(): number {
    const { window, maxWindow } = this.policy;
    const latest = this.#openedAt + maxWindow;
    // Too few for a batch would go out at another price.
    if (this.#waiting.size < (this.limits.leastItems ?? 1)) return latest;
    return Math.min(this.#lastAt + window, latest);
  }

  #arm(delay: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#onTimer(), Math.max(0, delay));
  }

  #onTimer(): void {
    this.#timer = undefined;
    this.#isHurried = false;
    const flushing = new Set<EngineScope>();
    for (const { scope } of this.#waiting) if (scope.flushing) flushing.add(scope);
    for (const scope of flushing) this.flush(scope);
    if (this.#waiting.size === 0) return;
    const now = this.#clock.now();
    const due = this.#due();
    if (now < due) this.#arm(due - now);
    else this.#take(now >= this.#openedAt + this.policy.maxWindow ? 'maxWindow' : 'window');
  }

  #take(reason: FlushReason): void {
    const requests = [...this.#waiting];
    this.#waiting = new Set();
    this.#send(requests, reason);
  }

  #send(requests: readonly Request[], reason: FlushReason): void {
    if (requests.length === 0) return;
    for (const request of requests) request.leaveQueue();
    if (this.#waitedForAnswers(requests)) this.#tellOneAfterAnother(requests);
    this.#flushed += requests.length;
    this.#flushedFor = requests[0]?.scope;
    this.#flush(this, requests, reason);
  }

  /** Everything that was sent before is answered, and these came right then. */
  #waitedForAnswers([first]: readonly Request[]): boolean {
    // Scopes that follow each other are meant to.
    if (this.#isTold || this.#flushedFor !== first?.scope) return false;
    return this.#answered >= this.#flushed && this.#openedAt <= this.#answeredAt + soon;
  }

  #tellOneAfterAnother(requests: readonly Request[]): void {
    this.#isTold = true;
    const text =
      `${this.batcher.info.name} ${this.model}: this batch began when the one before it was answered, so they run one ` +
      'after another, minutes to hours each. Calls that do not need those answers can share a batch: raise the limit ' +
      `that holds them back (p-limit, LangChain's maxConcurrency, a loop with await), see ${docsPage('large-batches.md')}`;
    const notice = { notice: 'hint', text } as const;
    for (const scope of new Set(requests.map((one) => one.scope))) scope.emit('notice', notice);
  }
}
