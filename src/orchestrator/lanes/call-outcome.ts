import { messageOf, NotSentError } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { Batcher, FlexTier } from '../../batchers/batcher.ts';
import { parseRetryAfter } from '../../concurrency/backoff.ts';
import { waitFor } from '../model/wait-for.ts';

/** What one ordinary call brought. */
export type CallOutcome =
  /** Final. */
  | { readonly is: 'answer'; readonly answer: Answer }
  /** Not accepted: there is no room now. */
  | { readonly is: 'full'; readonly retryAfter: number | undefined }
  /** Not accepted: the model has no such tier. */
  | { readonly is: 'no tier' }
  /** Nobody was reached, and nothing was sent. */
  | { readonly is: 'unreachable'; readonly message: string; readonly error: NotSentError }
  /** Nothing was sent, and never would be: our own side lacks something, such as a key. */
  | { readonly is: 'unsendable'; readonly message: string }
  /** It may be paid for, and brought no answer. `last`: what the provider said. */
  | { readonly is: 'failed'; readonly last: Answer | undefined; readonly message: string };

/** `tier`: set if the call has asked for it. */
export function outcomeOfReply(
  batcher: Batcher,
  tier: FlexTier | undefined,
  answer: Answer,
  now: number,
): CallOutcome {
  if (tier?.isRefused(answer)) return { is: 'no tier' };
  if (answer.status < 300 && answer.json === undefined) {
    return { is: 'failed', last: undefined, message: 'its answer is no JSON' };
  }
  const outcome = batcher.outcome(answer);
  if (outcome.kind === 'answer') return { is: 'answer', answer };
  const isFull = outcome.reason === 'rate-limit' || tier?.isFull(answer) === true;
  if (isFull) return { is: 'full', retryAfter: parseRetryAfter(answer.headers, now) };
  return { is: 'failed', last: answer, message: `it was answered with ${answer.status}` };
}

/** Its reply was lost: it may be paid for. */
export function isLost(outcome: CallOutcome): boolean {
  return outcome.is === 'failed' && outcome.last === undefined;
}

/** Nobody pays for an error that the provider has answered with. */
export function isUnpaid(outcome: CallOutcome): boolean {
  return outcome.is === 'answer' ? outcome.answer.status >= 400 : !isLost(outcome);
}

/** No reply came, or not all of it. */
export function outcomeOfError(error: unknown): CallOutcome {
  const message = messageOf(error);
  if (error instanceof NotSentError) {
    const isWorthAWait = waitFor(error, 'if it had no effect') !== undefined;
    return isWorthAWait ? { is: 'unreachable', message, error } : { is: 'unsendable', message };
  }
  return { is: 'failed', last: undefined, message };
}
