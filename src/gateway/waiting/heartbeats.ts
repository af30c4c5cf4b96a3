import { inTurns } from '../../concurrency/event-loop.ts';
import type { WaitingResponse } from './waiting-response.ts';

/** One timer for all responses that wait. */
export class Heartbeats {
  readonly #interval: number;
  readonly #waiting = new Set<WaitingResponse>();
  #timer: NodeJS.Timeout | undefined;

  constructor(interval: number) {
    this.#interval = interval;
  }

  add(response: WaitingResponse): void {
    this.#waiting.add(response);
    this.#timer ??= setInterval(() => void this.#beat(), this.#interval).unref();
  }

  delete(response: WaitingResponse): void {
    this.#waiting.delete(response);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Responses that have only just begun are left out: an answer from the ledger comes at once. */
  async #beat(): Promise<void> {
    await inTurns([...this.#waiting], (response) => {
      if (this.#waiting.has(response) && response.milliseconds > this.#interval / 2)
        response.beat();
    });
  }
}
