import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../src/index.ts';

/** So many quiet turns of the event loop, and whatever could still be computed has been. */
const quietTurns = 25;

/**
 * Time for a program and its provider together. It stands still while anything is on the network, on
 * the disk or being computed, and then leaps to the next timer of either. Hours pass in milliseconds, and what
 * happens first happens first, however busy the machine is.
 */
export class LeapingClock implements Clock {
  readonly #limit: number;
  readonly #timers = new Set<Timer>();
  readonly #underWay = new Set<unknown>();
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
    subscribe('undici:request:create', this.#onCreate);
    subscribe('undici:request:trailers', this.#onEnd);
    subscribe('undici:request:error', this.#onEnd);
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
    unsubscribe('undici:request:create', this.#onCreate);
    unsubscribe('undici:request:trailers', this.#onEnd);
    unsubscribe('undici:request:error', this.#onEnd);
  }

  readonly #onCreate = (message: unknown) => {
    this.#underWay.add((message as { request: unknown }).request);
  };

  readonly #onEnd = (message: unknown) => {
    this.#underWay.delete((message as { request: unknown }).request);
  };

  async #leap(): Promise<void> {
    if (this.#leaping) return;
    this.#leaping = true;
    while (this.#timers.size > 0) {
      await this.#quiet();
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

  async #quiet(): Promise<void> {
    for (let calm = 0; calm < quietTurns; calm += 1) {
      await turn();
      if (this.#underWay.size > 0 || isWorking()) calm = 0;
    }
  }
}

/** A file is being read or written, or a thread is waited for. */
function isWorking(): boolean {
  return process
    .getActiveResourcesInfo()
    .some((type) => /^(FSReq|CloseReq|MessagePort)/.test(type));
}

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}
