import type { Batcher, CompletionWindow, Limits } from '../../batchers/batcher.ts';
import { parseDuration } from '../../duration.ts';
import { invariant } from '../../errors.ts';
import type { Wire } from '../../http/wire.ts';
import type { QueueId } from '../../ledger/ledger.ts';
import type { Clock, Dict } from '../../types.ts';
import type { Account } from '../capture/accounts.ts';
import type { Returning } from '../capture/client-retries.ts';
import { itemId } from '../capture/fingerprint.ts';
import type { Spool } from '../capture/spool.ts';
import type { FlushReason } from '../model/events.ts';
import type { EngineScope, PendingRequest, Policy } from '../model/request.ts';
import { Slots } from '../submit/semaphore.ts';

export interface QueueSpec {
  readonly id: QueueId;
  readonly batcher: Batcher;
  readonly account: Account;
  readonly wire: Wire;
  readonly endpoint: string;
  readonly model: string;
  readonly batchHeaders: Dict;
  readonly policy: Policy;
  /** Who holds the bodies. */
  readonly spool: Spool;
  /** Who knows the clients that come back. */
  readonly returning: Returning;
}

/** A slow queue must not take all the bandwidth and memory there is. */
const transfersAtOnce = 4;
const anyFingerprint = new Uint8Array(32);

export type Flush = (
  queue: Queue,
  requests: readonly PendingRequest[],
  reason: FlushReason,
) => void;

/**
 * Calls that wait for company. A queue is flushed at `batchSize` requests, when no call has joined it
 * for `window`, or `maxWindow` after the call that opened it.
 *
 * One timer per queue, not per call: a joining call only moves `#lastAt`, and the timer looks at it
 * when it fires and sleeps on if the queue was not quiet.
 */
export class Queue implements QueueSpec {
  readonly id: QueueId;
  readonly batcher: Batcher;
  readonly account: Account;
  readonly wire: Wire;
  readonly endpoint: string;
  readonly model: string;
  readonly batchHeaders: Dict;
  readonly policy: Policy;
  readonly spool: Spool;
  readonly returning: Returning;
  readonly completionWindow: CompletionWindow;
  readonly #clock: Clock;
  readonly #flush: Flush;
  readonly #size: number;
  readonly #envelopes: number[] = [];
  readonly #transfers = new Slots();
  #waiting = new Set<PendingRequest>();
  #openedAt = 0;
  #lastAt = 0;
  #timer: unknown;
  #hurried = false;

  constructor(spec: QueueSpec, clock: Clock, flush: Flush) {
    this.id = spec.id;
    this.batcher = spec.batcher;
    this.account = spec.account;
    this.wire = spec.wire;
    this.endpoint = spec.endpoint;
    this.model = spec.model;
    this.batchHeaders = spec.batchHeaders;
    this.policy = spec.policy;
    this.spool = spec.spool;
    this.returning = spec.returning;
    const limits = spec.batcher.limits(spec);
    const offered = offeredWindow(limits, spec.policy.completionWindow);
    invariant(offered, 'A call with a completion window that is not offered got into a queue');
    this.completionWindow = offered;
    this.#size = Math.min(spec.policy.batchSize ?? limits.recommendedItems, limits.items);
    this.#clock = clock;
    this.#flush = flush;
  }

  /** What the format puts around a body, for an occurrence of so many digits. */
  envelopeBytes(digits: number): number {
    const known = this.#envelopes[digits];
    if (known !== undefined) return known;
    const { before, after } = this.batcher.envelope(
      this,
      itemId(anyFingerprint, 10 ** (digits - 1)),
    );
    const bytes = before.length + after.length;
    this.#envelopes[digits] = bytes;
    return bytes;
  }

  /** How many batches the account may have under way for one of these scopes: the most careful decides. */
  mostInFlight(scopes: Iterable<EngineScope>): number {
    const { inFlight } = this.batcher.limits(this);
    let least = Number.POSITIVE_INFINITY;
    for (const { maxInFlight = inFlight } of scopes) least = Math.min(least, maxInFlight);
    return Number.isFinite(least) ? least : inFlight;
  }

  /** An upload or a download, not too many of one queue at once. */
  async transfer<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#transfers.acquire(transfersAtOnce, signal);
    try {
      return await work();
    } finally {
      this.#transfers.release();
    }
  }

  add(pending: PendingRequest): void {
    const now = this.#clock.now();
    if (this.#waiting.size === 0) this.#openedAt = now;
    this.#lastAt = now;
    this.#waiting.add(pending);
    pending.queued = true;
    if (this.#waiting.size >= this.#size) {
      this.#take('size');
    } else if (pending.scope.flushing && !this.#hurried) {
      this.close();
      this.#hurried = true;
      this.#arm(0);
    } else if (this.#timer === undefined) {
      this.#arm(this.#due() - now);
    }
  }

  has(pending: PendingRequest): boolean {
    return this.#waiting.has(pending);
  }

  remove(pending: PendingRequest): boolean {
    return this.#waiting.delete(pending);
  }

  /** Sends what this scope (or anyone) has waiting, now. */
  flush(scope?: EngineScope): void {
    if (scope === undefined) {
      this.#take('flush');
      return;
    }
    const own = [...this.#waiting].filter((pending) => pending.scope === scope);
    for (const pending of own) this.#waiting.delete(pending);
    if (own.length > 0) this.#flush(this, own, 'flush');
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
    this.#hurried = false;
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
    if (requests.length > 0) this.#flush(this, requests, reason);
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
