import type { BatchFailure } from '../../batchers/batcher.ts';
import { RefusedError } from '../../batchers/shared/refused-error.ts';
import { ReplyError } from '../../batchers/shared/replies.ts';

/** What the provider said, where it said anything. */
export function failureOf(error: unknown): BatchFailure | undefined {
  return error instanceof RefusedError || error instanceof ReplyError ? error.failure : undefined;
}
