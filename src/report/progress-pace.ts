import { doneOf, type ShownBatch } from './progress-state.ts';

const first = 60_000;
const growth = 1.5;
const longest = 10 * 60_000;
/** Where nothing moves, a line is due this much more seldom. */
const standstill = 5;

/** When the next line about progress is due, where lines stay: seldom, and more so as time goes by. */
export class ProgressPace {
  #interval = first;
  #lastAt: number | undefined;
  #done = 0;

  isDue(batches: readonly ShownBatch[], now: number): boolean {
    if (batches.length === 0) {
      this.#lastAt = undefined;
      return false;
    }
    this.#lastAt ??= now;
    const done = batches.reduce((sum, batch) => sum + doneOf(batch), 0);
    const wait = done === this.#done ? this.#interval * standstill : this.#interval;
    if (now - this.#lastAt < wait) return false;
    this.#lastAt = now;
    this.#done = done;
    this.#interval = Math.min(longest, this.#interval * growth);
    return true;
  }
}
