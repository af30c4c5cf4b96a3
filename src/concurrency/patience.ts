import { NotSentError } from '../base/errors.ts';
import type { Clock } from '../base/types.ts';
import { backoff } from './backoff.ts';

const minute = 60_000;
/** How long a provider that cannot be reached is tried again before the callers are told. */
export const unreachablePatience = 15 * minute;
/** How long something may be "not found", or fail in other ways, before that counts. */
export const missingPatience = 30 * minute;
/** How long a result source may be empty beside one that has lines: files are written once. */
export const emptyPatience = minute;
/** How long a key may be refused before the callers are told. */
export const deniedPatience = 10 * minute;

/** After so many cut-off bodies in a row, less is sent at once. */
const mostCuts = 4;

/** How to wait before a step is tried again. */
export interface Wait {
  readonly retryAfter?: number | undefined;
  /** A matter of minutes; waiting for room may last as long as other batches do. */
  readonly limited: boolean;
  /** Replaces our own patience where the provider's words say how long this can last. */
  readonly within?: number | undefined;
}

/**
 * How long, and how often, the same step has failed. The time that the step itself takes does not count, nor does that
 * for which it waits for something else before it is tried again.
 */
export class Patience {
  readonly #clock: Clock;
  readonly #noRoomPatience: number;
  #failsSince: number | undefined;
  #noRoomSince: number | undefined;
  #passesSince: number | undefined;
  #attempts = 0;
  #cuts = 0;

  constructor(clock: Clock, noRoomPatience = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#noRoomPatience = noRoomPatience;
  }

  isOver({ limited, within }: Wait): boolean {
    const now = this.#clock.now();
    if (within !== undefined) {
      this.#passesSince ??= now;
      return now - this.#passesSince >= within;
    }
    if (limited) {
      this.#failsSince ??= now;
      return now - this.#failsSince >= unreachablePatience;
    }
    // The provider was reached, and asks us to wait.
    this.#failsSince = undefined;
    this.#noRoomSince ??= now;
    return now - this.#noRoomSince >= this.#noRoomPatience;
  }

  /**
   * Whether the body was cut off half-way several times in a row. A proxy that takes no body of this size may
   * hang up before its reply can be read.
   */
  isCutOff(error: unknown): boolean {
    const isCut = error instanceof NotSentError && error.facts.partly === true;
    this.#cuts = isCut ? this.#cuts + 1 : 0;
    return this.#cuts === mostCuts;
  }

  /** The step could not be tried for so many milliseconds, for another reason than its failure. */
  excuse(milliseconds: number): void {
    if (this.#failsSince !== undefined) this.#failsSince += milliseconds;
    if (this.#noRoomSince !== undefined) this.#noRoomSince += milliseconds;
    if (this.#passesSince !== undefined) this.#passesSince += milliseconds;
  }

  /** Milliseconds until the next try. */
  next({ retryAfter }: Wait): number {
    this.#attempts += 1;
    return backoff({ attempt: this.#attempts, retryAfter });
  }
}
