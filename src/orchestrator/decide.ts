import type { Outcome, RetryReason } from '../batchers/batcher.ts';
import type { Settlement } from '../ledger/ledger.ts';
import type { Answer } from '../types.ts';
import type { ActiveBatch, BatchMember } from './active-batch.ts';
import { ownAnswer, withoutSecrets } from './answers.ts';

/** What becomes of a request, for the ledger and for its caller. */
export interface Decided {
  readonly settlement: Settlement;
  readonly answer?: Answer;
  readonly reason?: RetryReason;
}

/** One outcome of one attempt: final, or worth another one. */
export function decide(batch: ActiveBatch, member: BatchMember, outcome: Outcome): Decided {
  const { request } = member;
  if (outcome.kind === 'answer') {
    const answer = withoutSecrets(outcome.answer, batch.wire);
    return { settlement: { request, is: 'answer', answer }, answer };
  }
  const { reason } = outcome;
  const pending = member.pending?.waiters().find(({ due }) => !due);
  // Nobody waits for it, or nobody has time for another attempt.
  if (pending === undefined) return { settlement: { request, is: 'release' } };
  // What ran out of time once is tried once more; a cancelled request was meant to end.
  const attempts =
    reason === 'cancelled' ? 1 : reason === 'expired' ? 2 : pending.scope.policy.attempts;
  if (member.attempt + 1 < attempts) {
    return { settlement: { request, is: 'retry' }, reason };
  }
  const answer = finalAnswer(batch, reason, outcome.last);
  return { settlement: { request, is: 'answer', answer }, answer };
}

function finalAnswer(batch: ActiveBatch, reason: RetryReason, last: Answer): Answer {
  const { batcher } = batch;
  if (reason === 'expired') {
    const message = 'The provider did not get to this request within the completion window.';
    return ownAnswer(batcher, 'expired', message);
  }
  if (reason === 'cancelled') {
    return ownAnswer(batcher, 'cancelled', 'The batch of this request was cancelled.');
  }
  if (reason === 'never-ran') {
    const message = `The provider never ran this request, in any attempt (batch ${batch.token}).`;
    return ownAnswer(batcher, 'missing', message);
  }
  return withoutSecrets(last, batch.wire);
}
