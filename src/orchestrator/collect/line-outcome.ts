import type { Outcome, RetryReason } from '../../batchers/batcher.ts';
import { redactBody } from '../../http/redact-body.ts';
import type { Wire } from '../../http/wire.ts';
import type { Settlement } from '../../ledger/ledger.ts';
import type { Answer } from '../../types.ts';
import type { ActiveBatch, BatchMember } from '../model/batch.ts';
import { ownAnswer } from '../model/own-answer.ts';
import type { PendingRequest } from '../model/request.ts';

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
  const waiting = member.pending?.waiters().filter(({ due }) => !due) ?? [];
  // Nobody waits for it, or nobody has time for another attempt.
  if (waiting.length === 0) return { settlement: { request, is: 'release' } };
  if (isWorthAnother(batch, reason, member.attempt + 1, waiting)) {
    return { settlement: { request, is: 'retry' }, reason };
  }
  const answer = finalAnswer(batch, reason, outcome.last);
  return { settlement: { request, is: 'answer', answer }, answer };
}

function isWorthAnother(
  { cancelRequested, cancelling }: ActiveBatch,
  reason: RetryReason,
  made: number,
  waiting: readonly PendingRequest[],
): boolean {
  // Somebody else meant it to end. Where we did, who still waits has come after those who wanted that.
  if (reason === 'cancelled') return cancelRequested || cancelling;
  if (reason !== 'expired') return made < (waiting[0]?.scope.policy.attempts ?? 0);
  // Once more, whatever else went wrong before. Kept in memory only: a run that was killed may try again.
  const isFirst = !waiting.some(({ expired }) => expired);
  for (const pending of waiting) pending.expired = true;
  return isFirst;
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

/** Providers like to say which key they refuse, and what callers get is written to the ledger. */
function withoutSecrets(answer: Answer, { redact }: Pick<Wire, 'redact'>): Answer {
  if (answer.status < 300) return answer;
  const body = redactBody(answer.body, redact);
  if (body === answer.body) return answer;
  const { json: _echoing, ...rest } = answer;
  return { ...rest, body };
}
