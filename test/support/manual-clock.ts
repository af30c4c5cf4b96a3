import type { Clock } from '../../src/types.ts';

/** Time that stands still until it is told to go on. */
export class ManualClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Map<number, { readonly at: number; readonly callback: () => void }>();
  #next = 1;

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, milliseconds: number): unknown {
    const timer = this.#next;
    this.#next += 1;
    this.#timers.set(timer, { at: this.#now + milliseconds, callback });
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as number);
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Every timer due in this stretch fires at its own time. */
  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const [timer, due] =
        [...this.#timers]
          .filter(([, { at }]) => at <= end)
          .sort(([, a], [, b]) => a.at - b.at)[0] ?? [];
      if (timer === undefined || due === undefined) break;
      this.#timers.delete(timer);
      this.#now = due.at;
      due.callback();
    }
    this.#now = end;
  }
}
