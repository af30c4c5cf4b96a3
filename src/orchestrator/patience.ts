import { BatchlingError, NotSentError, UnknownOutcomeError } from '../errors.ts';
import { backoff } from '../http/backoff.ts';
import type { Clock } from '../types.ts';
import { failureOf } from './failures.ts';

/** How long a provider that cannot be reached is tried again before the callers are told. */
const limit = 15 * 60_000;

interface Wait {
  readonly retryAfter?: number | undefined;
  /** Only for so long; waiting for room has no end of its own. */
  readonly limited: boolean;
}

/** How long, and how often, the same step was tried. */
export class Patience {
  readonly #clock: Clock;
  readonly #until: number;
  #attempts = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#until = clock.now() + limit;
  }

  isOver({ limited }: Wait): boolean {
    return limited && this.#clock.now() >= this.#until;
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
  return { retryAfter: failure.retryAfter, limited: failure.answer?.status !== 429 };
}

function isOurs(cause: unknown): boolean {
  return BatchlingError.isInstance(cause) && cause.code === 'INVARIANT';
}
