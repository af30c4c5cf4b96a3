import type { Clock } from '../../src/types.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Time that stands still until it is told to go to the next timer, which is one step. */
export class SteppingClock implements Clock {
  /** Grows whenever somebody sets or clears a timer: a sign of life. */
  activity = 0;
  steps = 0;
  #now = Date.UTC(2030, 0, 1);
  readonly #timers = new Map<number, Timer>();

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    this.activity += 1;
    this.#timers.set(this.activity, { at: this.#now + Math.max(0, milliseconds), callback });
    return this.activity;
  }

  clearTimeout(timer: unknown): void {
    if (this.#timers.delete(timer as number)) this.activity += 1;
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** When the next timer is due. */
  get next(): number | undefined {
    let next: number | undefined;
    for (const { at } of this.#timers.values()) if (next === undefined || at < next) next = at;
    return next;
  }

  /** Fires the timers that are due first, all of one moment. */
  step(): void {
    const { next } = this;
    if (next === undefined) return;
    this.steps += 1;
    this.#now = Math.max(this.#now, next);
    for (const [timer, { at, callback }] of [...this.#timers]) {
      if (at <= next && this.#timers.delete(timer)) callback();
    }
  }

  /** Lets time pass in which no timer is due. */
  skipTo(moment: number): void {
    this.#now = Math.max(this.#now, moment);
  }
}
