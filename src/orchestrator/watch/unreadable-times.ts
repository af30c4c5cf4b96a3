import type { Clock } from '../../base/types.ts';
import { deniedPatience, emptyPatience, missingPatience } from '../../concurrency/patience.ts';

/**
 * Why a batch cannot be read: it is not found, it has no line that could be read, some of it is empty, the key is
 * refused, or any other error.
 */
export type UnreadableReason = 'missing' | 'unreadable' | 'empty' | 'denied' | 'error';

const patienceWith: Readonly<Record<UnreadableReason, number>> = {
  missing: missingPatience,
  unreadable: missingPatience,
  empty: emptyPatience,
  denied: deniedPatience,
  error: missingPatience,
};

/**
 * Notes since when a batch cannot be read, for each reason by itself: half an hour of 500 does not make the
 * first "not found" any truer. A good answer ends them all.
 */
export class UnreadableTimes {
  readonly #clock: Clock;
  readonly #since = new Map<UnreadableReason, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes a failure; `true`: it has lasted for longer than we are patient with it. */
  hasLasted(reason: UnreadableReason): boolean {
    const now = this.#clock.now();
    const since = this.#since.get(reason) ?? now;
    this.#since.set(reason, since);
    return now - since >= patienceWith[reason];
  }

  clear(): void {
    this.#since.clear();
  }
}
