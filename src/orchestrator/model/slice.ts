import { setImmediate as immediate } from 'node:timers/promises';

const MILLISECONDS = 3;

/**
 * No synchronous slice of ours may be felt by the program: who works through thousands asks whether its
 * slice is over, and lets the event loop turn.
 */
export class Slice {
  #until = performance.now() + MILLISECONDS;

  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  async next(): Promise<void> {
    await immediate();
    this.#until = performance.now() + MILLISECONDS;
  }
}
