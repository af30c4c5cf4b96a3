import type { Answer, ItemId } from '../../base/types.ts';
import type { Outcome, Remote } from '../../batchers/batcher.ts';
import type { Cost } from '../../ledger/ledger.ts';
import type { Batch } from '../model/batch.ts';
import { CacheUse } from './cache-use.ts';

/** What one reading of the results met besides lines of ours. */
export interface Reading {
  /** Lines of no request of ours, or that could not be understood. */
  strange: number;
  /** Sources that held no line, or none that could be understood. */
  empty: boolean;
  garbled: boolean;
  /** Sources whose end may be a connection that broke. */
  unended: boolean;
}

export function newReading(): Reading {
  return { strange: 0, empty: false, garbled: false, unended: false };
}

/** What has been read of the results of a batch, over all readings. */
export class ResultLines {
  readonly #batch: Batch;
  /** Reading may go on here, where the provider can. */
  cursor: string | undefined;
  /** A line of a request of ours was read. */
  hasMatched = false;
  /** Some of the answers could not be stored. */
  isUnwritten = false;
  /** Outcomes that may go better next time, unless another line holds an answer. */
  readonly retries = new Map<ItemId, Outcome>();
  readonly cacheUse = new CacheUse();
  /** Answers read so far: good ones, and errors. */
  #answered = 0;
  #failed = 0;

  constructor(batch: Batch) {
    this.#batch = batch;
    this.cursor = batch.origin.cursor;
  }

  /** What the answers have used and cost, where they say so. */
  readonly #sums = { inputTokens: 0, outputTokens: 0, paid: 0, saved: 0 };
  #hasUsage = false;
  #hasPrice = false;

  /** Adds what one answer has used. */
  spend({ inputTokens, outputTokens, paid, saved }: Cost): void {
    this.#hasUsage = true;
    this.#hasPrice ||= paid !== undefined;
    this.#sums.inputTokens += inputTokens;
    this.#sums.outputTokens += outputTokens;
    this.#sums.paid += paid ?? 0;
    this.#sums.saved += saved ?? 0;
  }

  count(answer: Answer | undefined): void {
    if (answer === undefined) return;
    if (answer.status < 400) this.#answered += 1;
    else this.#failed += 1;
  }

  get counts(): { readonly answered: number; readonly failed: number } {
    return { answered: this.#answered, failed: this.#failed };
  }

  /** What is told of the batch when it is collected. */
  get told() {
    const { inputTokens, outputTokens, paid, saved } = this.#sums;
    return {
      ...this.counts,
      ...(this.#hasUsage && { inputTokens, outputTokens }),
      ...(this.#hasPrice && { dollars: { paid, saved } }),
    };
  }

  get areComplete(): boolean {
    for (const { isSettled } of this.#batch.members.values()) if (!isSettled) return false;
    return true;
  }

  /** Requests have no line. Of lines that only say "try again" nothing more is to be expected. */
  get areLacking(): boolean {
    return this.#read() < this.#batch.members.size;
  }

  /**
   * Why requests without a line may have one where nothing could be read. An empty source is believed if
   * the provider says that it ran no more than has been read.
   */
  unreadReason(
    { readable, incomplete, counts }: Remote,
    { strange, empty, garbled, unended }: Reading,
  ): 'unreadable' | 'empty' | undefined {
    if (!readable || incomplete || !this.areLacking) return undefined;
    const { hasMatched } = this;
    if (garbled || (!hasMatched && strange > 0)) return 'unreadable';
    const ranMore = counts && this.#read() < counts.completed + counts.failed;
    if (unended && ranMore !== false) return 'unreadable';
    const isSuspect = empty ? ranMore !== false : !hasMatched && ranMore === true;
    if (!isSuspect) return undefined;
    return hasMatched ? 'empty' : 'unreadable';
  }

  #read(): number {
    let lines = 0;
    for (const [id, { isSettled }] of this.#batch.members) {
      if (isSettled || this.retries.has(id)) lines += 1;
    }
    return lines;
  }
}
