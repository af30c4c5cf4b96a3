import { BatchlingError, NotSentError, UnknownOutcomeError } from '../base/errors.ts';
import type { Clock } from '../base/types.ts';
import { failureOf } from '../orchestrator/model/failure-of.ts';
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

/** So often a body is cut off before less of it is sent. */
const mostCuts = 4;

interface Wait {
  readonly retryAfter?: number | undefined;
  /** A matter of minutes; waiting for room may last as long as other batches do. */
  readonly limited: boolean;
  /** In place of our own patience, where the provider's words say how long this can last. */
  readonly within?: number | undefined;
}

/** How long, and how often, the same step has failed. What it takes by itself does not count. */
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
    // It was reached, and asks us to wait.
    this.#failsSince = undefined;
    this.#noRoomSince ??= now;
    return now - this.#noRoomSince >= this.#noRoomPatience;
  }

  /**
   * Whether the body was cut off half-way several times in a row. Behind that may be a proxy that takes no
   * body of this size and hangs up while it says so, which nobody gets to hear.
   */
  isCutOff(error: unknown): boolean {
    const isCut = error instanceof NotSentError && error.facts.partly === true;
    this.#cuts = isCut ? this.#cuts + 1 : 0;
    return this.#cuts === mostCuts;
  }

  /** Milliseconds until the next try. */
  next({ retryAfter }: Wait): number {
    this.#attempts += 1;
    return backoff({ attempt: this.#attempts, retryAfter });
  }
}

/** How to wait before a step is tried again; `undefined`: repeating it is pointless or dangerous. */
export function waitFor(
  error: unknown,
  repeat: 'whatever became of it' | 'if it had no effect',
): Wait | undefined {
  // What our own side cannot read will not be readable next time either.
  if (error instanceof NotSentError && isOurs(error.cause)) return undefined;
  if (error instanceof NotSentError) return { limited: true };
  if (error instanceof UnknownOutcomeError) {
    return repeat === 'whatever became of it' ? { limited: true } : undefined;
  }
  const failure = failureOf(error);
  if (failure?.next !== 'later') return undefined;
  const { retryAfter, within, meaning } = failure;
  return { retryAfter, within, limited: meaning !== 'full' };
}

function isOurs(cause: unknown): boolean {
  return BatchlingError.isInstance(cause) && cause.code === 'INVARIANT';
}
