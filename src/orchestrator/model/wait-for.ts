import { BatchlingError, NotSentError, UnknownOutcomeError } from '../../base/errors.ts';
import type { Wait } from '../../concurrency/patience.ts';
import { failureOf } from './failure-of.ts';

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
  const isMissing = BatchlingError.isInstance(cause) && cause.code === 'NOT_AVAILABLE';
  return isMissing || (BatchlingError.isInstance(cause) && cause.code === 'INVARIANT');
}
