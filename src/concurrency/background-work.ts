import { setTimeout } from 'node:timers/promises';
import { nextTurn } from './event-loop.ts';

/** How long an engine that closes waits for what is under way. */
const closingGrace = 2_000;

/** Work nobody waits for, until the engine closes. */
export class BackgroundWork {
  readonly #running = new Set<Promise<void>>();

  /** `onFailure` must not throw. */
  add(work: Promise<unknown>, onFailure: (error: unknown) => void): void {
    const tracked: Promise<void> = work
      .then(() => undefined, onFailure)
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  /** Resolves when nothing runs, including what was begun meanwhile. What has just ended may begin more within its turn. */
  async done(): Promise<void> {
    do {
      await Promise.all(this.#running);
      await nextTurn();
    } while (this.#running.size > 0);
  }
}

/**
 * Waits for the work, but not for long. Measured in real time, like the time-outs of connections: the work is on
 * the wire, and a clock that runs faster would give it no time at all.
 */
export async function withGrace(work: Promise<unknown>): Promise<void> {
  const done = new AbortController();
  const grace = setTimeout(closingGrace, undefined, { signal: done.signal });
  await Promise.race([work, grace.catch(() => undefined)]);
  done.abort();
}
