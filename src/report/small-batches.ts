import type { BatchlingEvents } from '../orchestrator/events.ts';
import type { Stats } from '../orchestrator/stats.ts';

/** Usual limits of pools; whoever sends more at once does not limit itself much. */
const mostSmall = 100;
const roundsToNotice = 3;

/**
 * Notices programs that limit their own concurrency: each small batch is flushed because nothing more
 * comes, and nothing more comes before it is answered. Speaks once.
 */
export class SmallBatches {
  #rounds = 0;
  #largest = 0;
  #capturedBefore = 0;
  #said = false;

  flushed({ reason }: BatchlingEvents['queue:flushed'], stats: Stats): string | undefined {
    const { captured, answered } = stats;
    const waiting = captured - answered;
    // Another queue of the same round.
    if (answered < this.#capturedBefore || this.#said) return undefined;
    this.#capturedBefore = captured;
    const isSmall = waiting <= mostSmall && (reason === 'window' || reason === 'maxWindow');
    this.#rounds = isSmall ? this.#rounds + 1 : 0;
    this.#largest = isSmall ? Math.max(this.#largest, waiting) : 0;
    if (this.#rounds < roundsToNotice) return undefined;
    this.#said = true;
    return (
      `the last ${roundsToNotice} batches held at most ${this.#largest} ` +
      `${this.#largest === 1 ? 'request' : 'requests'}, and each waited for the one before. If the ` +
      'program limits its own concurrency (p-limit, a pool, a loop with await), raise that limit: a ' +
      'batch takes its time whatever its size, and thousands of requests can share one.'
    );
  }
}
