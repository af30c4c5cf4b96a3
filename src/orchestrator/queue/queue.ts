import { docsPage } from '../../base/docs-page.ts';
import { parseDuration } from '../../base/duration.ts';
import { invariant } from '../../base/errors.ts';
import type { Clock, Dict } from '../../base/types.ts';
import type { Batcher, CompletionWindow, Limits } from '../../batchers/batcher.ts';
import { givenPrice, limitsOf } from '../../batchers/limit-settings.ts';
import type { Settings } from '../../batchers/provider-info.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { Wire } from '../../http/wire.ts';
import type { QueueId } from '../../ledger/ledger.ts';
import { ModelPrice, type Terms } from '../../pricing/model-price.ts';
import type { FlushReason } from '../events/events.ts';
import type { EngineScope, Policy } from '../model/call.ts';
import { itemId } from '../model/item-id.ts';
import type { Request } from '../model/request.ts';
import type {
  BodyStore,
  ClientRetryMemory,
  QueueAccount,
  RequestQueue,
} from '../model/request-queue.ts';

/** What a queue is made of. */
export type QueueSpec = Pick<
  RequestQueue,
  | 'id'
  | 'batcher'
  | 'account'
  | 'wire'
  | 'isConfigured'
  | 'endpoint'
  | 'model'
  | 'batchHeaders'
  | 'policy'
  | 'bodies'
  | 'clientRetries'
> & {
  /** What the option `providers` says of this provider. Part of the queue key. */
  readonly settings: Settings;
};

/** A slow queue must not take all the bandwidth and memory there is. */
const transfersAtOnce = 4;
const anyFingerprint = new Uint8Array(32);

/** Calls that waited for answers come this soon after them, in milliseconds; later ones have another reason. */
const soon = 2_000;

export type Flush = (queue: Queue, requests: readonly Request[], reason: FlushReason) => void;

/**
 * Requests that wait for company. A queue is flushed at `batchSize` requests, when none has joined it for
 * `window`, or `maxWindow` after the one that opened it.
 *
 * One timer per queue, not per request: a joining request only moves `#lastAt`, and the timer looks at it
 * when it fires and sleeps on if the queue was not quiet.
 */
export class Queue implements RequestQueue {
  readonly id: QueueId;
  readonly batcher: Batcher;
  readonly account: QueueAccount;
  readonly wire: Wire;
  readonly isConfigured: boolean;
  readonly endpoint: string;
  readonly model: string;
  readonly batchHeaders: Dict;
  readonly policy: Policy;
  readonly bodies: BodyStore;
  readonly clientRetries: ClientRetryMemory;
  readonly limits: Limits;
  readonly completionWindow: CompletionWindow;
  readonly price: ModelPrice;
  readonly terms: Terms;
  readonly units = new WeakMap<Request, number>();
  readonly #clock: Clock;
  readonly #flush: Flush;
  readonly #size: number;
  readonly #envelopes: number[] = [];
  readonly #transfers = new Semaphore();
  #waiting = new Set<Request>();
  #openedAt = 0;
  #lastAt = 0;
  #timer: unknown;
  /** Requests that were flushed, for whom the last of them, and how many a batch has answered. */
  #flushed = 0;
  #flushedFor: EngineScope | undefined;
  #answered = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isTold = false;
  /** The timer flushes at once what scopes that end have waiting. */
  #isHurried = false;

  constructor(spec: QueueSpec, clock: Clock, flush: Flush) {
    this.id = spec.id;
    this.batcher = spec.batcher;
    this.account = spec.account;
    this.wire = spec.wire;
    this.isConfigured = spec.isConfigured;
    this.endpoint = spec.endpoint;
    this.model = spec.model;
    this.batchHeaders = spec.batchHeaders;
    this.policy = spec.policy;
    this.bodies = spec.bodies;
    this.clientRetries = spec.clientRetries;
    this.limits = limitsOf(spec.batcher, spec, spec.settings);
    const given = givenPrice(spec.settings, spec.model);
    this.price = new ModelPrice(spec.batcher.info, spec.model, given);
    const { limits } = this;
    const offered = offeredWindow(limits, spec.policy.completionWindow);
    invariant(offered, 'A call with a completion window that is not offered got into a queue');
    this.completionWindow = offered;
    this.terms = { priceShare: offered.priceShare, cachedInput: limits.cachedInput };
    this.#size = Math.min(spec.policy.batchSize ?? limits.recommendedItems, limits.items);
    this.#clock = clock;
    this.#flush = flush;
  }

  envelopeBytes(digits: number): number {
    const known = this.#envelopes[digits];
    if (known !== undefined) return known;
    const id = itemId(anyFingerprint, 10 ** (digits - 1));
    const { before, after } = this.batcher.envelope(this, id);
    const bytes = before.length + after.length;
    this.#envelopes[digits] = bytes;
    return bytes;
  }

  mostInFlight(scopes: Iterable<EngineScope>): number {
    let least = Number.POSITIVE_INFINITY;
    const { inFlight } = this.limits;
    for (const { maxInFlight = inFlight } of scopes) least = Math.min(least, maxInFlight);
    return Number.isFinite(least) ? least : inFlight;
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
    const now = this.#clock.now();
    if (this.#waiting.size === 0) this.#openedAt = now;
    this.#lastAt = now;
    this.#waiting.add(request);
    request.enterQueue();
    if (this.#waiting.size >= this.#size) {
      this.#take('size');
    } else if (request.scope.flushing && !this.#isHurried) {
      this.close();
      this.#isHurried = true;
      this.#arm(0);
    } else if (this.#timer === undefined) {
      this.#arm(this.#due() - now);
    }
  }

  answered(): void {
    this.#answered += 1;
    this.#answeredAt = this.#clock.now();
  }

  remove(request: Request): boolean {
    return this.#waiting.delete(request);
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
    return Math.min(this.#lastAt + window, this.#openedAt + maxWindow);
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

/** The window of this length, in milliseconds, if the provider offers one. */
export function offeredWindow(
  { windows }: Pick<Limits, 'windows'>,
  asked: number,
): CompletionWindow | undefined {
  for (const duration in windows) if (parseDuration(duration) === asked) return windows[duration];
  return undefined;
}
