import { Change } from './change.ts';
import type { Outcome, Sink } from './outcome.ts';

/** Hands outcomes to a consumer, a page at a time: the job waits until one is used up. */
export class OutcomeQueue implements Sink, AsyncIterable<Outcome> {
  #page: readonly Outcome[] = [];
  #state: 'open' | 'ended' | 'closed' = 'open';
  #error: unknown;
  readonly #changed = new Change();

  async take(outcomes: readonly Outcome[]): Promise<void> {
    while (this.#page.length > 0 && this.#state === 'open') await this.#changed.next();
    if (this.#state !== 'open') return;
    this.#page = outcomes;
    this.#changed.tell();
  }

  /** Everything was taken. */
  end(): void {
    if (this.#state === 'open') this.#state = 'ended';
    this.#changed.tell();
  }

  fail(error: unknown): void {
    this.#error = error;
    this.end();
  }

  /** The consumer takes nothing more. */
  close(): void {
    this.#state = 'closed';
    this.#changed.tell();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Outcome> {
    for (;;) {
      const page = this.#page;
      if (page.length > 0) {
        yield* page;
        this.#page = [];
        this.#changed.tell();
      } else if (this.#state !== 'open') {
        if (this.#error !== undefined) throw this.#error;
        return;
      } else await this.#changed.next();
    }
  }
}
