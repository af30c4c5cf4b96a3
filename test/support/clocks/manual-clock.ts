import type { Clock } from '../../../src/base/types.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Time that stands still until it is told to go on: so far, or to the next timer, which is a step. */
export class ManualClock implements Clock {
  #steps = 0;
  #now = 1_000_000;
  #last = 0;
  readonly #timers = new Map<number, Timer>();

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    this.#last += 1;
    this.#timers.set(this.#last, { at: this.#now + Math.max(0, milliseconds), callback });
    return this.#last;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number);
  }

  get steps(): number {
    return this.#steps;
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** When the next timer is due. */
  get next(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#timers.values()) if (at < next) next = at;
    return next;
  }

  /** Fires the timers that are due first, all of one moment. */
  step(): void {
    const { next } = this;
    if (next === Number.POSITIVE_INFINITY) return;
    this.#steps += 1;
    this.#now = Math.max(this.#now, next);
    for (const [timer, { at, callback }] of [...this.#timers]) {
      if (at <= next && this.#timers.delete(timer)) callback();
    }
  }

  /** Every timer due in this stretch fires at its own time. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    while (this.next <= end) this.step();
    this.#now = Math.max(this.#now, end);
  }
}
