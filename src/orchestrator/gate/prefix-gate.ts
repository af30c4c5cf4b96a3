import type { Answer } from '../../base/types.ts';
import type { Cost } from '../../ledger/ledger.ts';
import type { CachePrefix } from '../../pricing/expectation.ts';
import { type PrimingValue, shareThatPays } from '../../pricing/priming-value.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { Gate } from './gate.ts';

const minutes = 60_000;
/** Priming that brought too little so often is given up for the group. */
const mostMisses = 2;

/** Requests of a queue that share what their provider is asked to cache. */
export class PrefixGate extends Gate {
  readonly queue: RequestQueue;
  readonly value: PrimingValue;
  /** Something of it lives for some minutes only. */
  readonly isShortLived: boolean;
  /** When the primer was sent last. */
  sentAt = 0;
  /** Requests that were sent after the primer and have no answer yet. */
  followers = 0;
  #usedAt = Number.NEGATIVE_INFINITY;
  #answers = 0;
  #hits = 0;
  #misses = 0;

  constructor(queue: RequestQueue, { tokens }: CachePrefix, value: PrimingValue) {
    super();
    this.queue = queue;
    this.value = value;
    this.isShortLived = tokens > 0;
  }

  get isGivenUp(): boolean {
    return this.#misses >= mostMisses;
  }

  /** What was written may still be there. */
  isWarm(now: number): boolean {
    return now < this.#usedAt + (this.isShortLived ? 5 : 60) * minutes;
  }

  used(now: number): void {
    this.#usedAt = now;
  }

  /** A request after the primer has ended. The last one of a round says how often the cache was read, for people. */
  followerEnded(answer: Answer | undefined, cost: Cost | undefined): string | undefined {
    this.followers -= 1;
    if (answer && answer.status < 300 && cost) {
      this.#answers += 1;
      if ((cost.cacheReadTokens ?? 0) > 0) this.#hits += 1;
    }
    return this.followers === 0 && this.#answers > 0 ? this.#judge() : undefined;
  }

  #judge(): string {
    const hits = this.#hits;
    const answers = this.#answers;
    this.#hits = 0;
    this.#answers = 0;
    const said = `${this.queue.model}: ${hits} of ${answers} requests after the primer read the prompt cache`;
    const least = shareThatPays(this.value);
    if (hits / answers >= least) return said;
    this.#misses += 1;
    const needed = `${said}, and priming pays from ${Math.ceil(least * 100)}% on`;
    return this.isGivenUp ? `${needed}. This group is not primed again` : needed;
  }
}
