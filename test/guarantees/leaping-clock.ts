import type { Clock } from '../../src/index.ts';
import { OutstandingWork } from '../support/outstanding-work.ts';

/**
 * Time for a program and its provider together. It stands still while anything is on the network, on
 * the disk or being computed, and then leaps to the next timer of either. Hours pass in milliseconds, and what
 * happens first happens first, however busy the machine is.
 */
export class LeapingClock implements Clock {
  readonly #limit: number;
  readonly #timers = new Set<Timer>();
  readonly #work = new OutstandingWork();
  readonly #start = Date.now();
  #now = this.#start;
  #leaping = false;
  #refuse: (reason: Error) => void = () => undefined;
  /** Rejects when more time has passed than anybody should have to wait. */
  readonly overslept: Promise<never>;

  constructor(limit: number) {
    this.#limit = limit;
    this.overslept = new Promise<never>((_, reject) => {
      this.#refuse = reject;
    });
    this.overslept.catch(() => undefined);
  }

  /** Milliseconds since the clock was started. */
  get elapsed(): number {
    return this.#now - this.#start;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, delay: number): unknown {
    const timer = { at: this.#now + Math.max(0, delay), callback };
    this.#timers.add(timer);
    void this.#leap();
    return timer;
  }

  clearTimeout(timer: unknown): void {
    this.#timers.delete(timer as Timer);
  }

  stop(): void {
    this.#timers.clear();
    this.#work.stop();
  }

  async #leap(): Promise<void> {
    if (this.#leaping) return;
    this.#leaping = true;
    while (this.#timers.size > 0) {
      await this.#work.done();
      let next = Number.POSITIVE_INFINITY;
      for (const { at } of this.#timers) next = Math.min(next, at);
      if (next - this.#start > this.#limit) {
        this.#refuse(new Error(`Nobody was answered in ${this.#limit / 3_600_000} hours`));
        break;
      }
      if (next === Number.POSITIVE_INFINITY) break;
      this.#now = Math.max(this.#now, next);
      for (const timer of [...this.#timers]) {
        if (timer.at > next || !this.#timers.delete(timer)) continue;
        timer.callback();
      }
    }
    this.#leaping = false;
  }
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}
