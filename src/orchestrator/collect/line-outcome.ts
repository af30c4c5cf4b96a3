import type { Answer } from '../../base/types.ts';
import type { Outcome, RetryReason } from '../../batchers/batcher.ts';
import type { Cost, Settlement } from '../../ledger/ledger.ts';
import { costOf } from '../answer/answer-cost.ts';
import { deliver, endAtDeadline } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import { withoutSecrets } from '../answer/without-secrets.ts';
import { factsOf, tell } from '../events/events.ts';
import type { Batch, BatchMember } from '../model/batch.ts';
import type { Request } from '../model/request.ts';

/** What becomes of a line, for the ledger and for its callers. */
export interface LineOutcome {
  readonly member: BatchMember;
  readonly settlement: Settlement;
  readonly answer?: Answer;
  readonly cost?: Cost | undefined;
  readonly reason?: RetryReason;
}

/** One outcome of one attempt: final, or worth another one. */
export function outcomeOf(batch: Batch, member: BatchMember, outcome: Outcome): LineOutcome {
  const { row, request } = member;
  if (outcome.kind === 'answer') {
    const answer = withoutSecrets(outcome.answer, batch.wire);
    const cost = costOf(batch.queue, answer.json, batch.queue.terms);
    const settlement: Settlement = cost
      ? { request: row, is: 'answer', answer, cost }
      : { request: row, is: 'answer', answer };
    // A batch of several scopes has the names of all of them.
    const labels = request && batch.scopes.size > 1 ? request.scope : undefined;
    const told = labels ? { ...settlement, labels } : settlement;
    return { member, settlement: told, answer, cost };
  }
  const { reason } = outcome;
  if (request && isToGoLate(request)) {
    return { member, settlement: { request: row, is: 'retry' }, reason };
  }
  // Nobody waits for it, or nobody has time for another attempt.
  const isWanted = request?.isWaitedFor ? request.isWanted : batch.isLeft;
  if (!isWanted) return { member, settlement: { request: row, is: 'release' } };
  if (isWorthAnother(batch, request, member.attempt + 1, reason)) {
    return { member, settlement: { request: row, is: 'retry' }, reason };
  }
  const answer = finalAnswer(batch, reason, outcome.last);
  return { member, settlement: { request: row, is: 'answer', answer }, answer };
}

/** The ledger knows: now the callers may. What is to be tried again is added to `retries`. */
export function settleLine(batch: Batch, outcome: LineOutcome, retries: Request[]): void {
  const { member, answer, reason, cost } = outcome;
  const { request } = member;
  member.isSettled = true;
  // The batch lives on until its last line is stored, and must not keep the request so long.
  member.request = undefined;
  const isUnasked = !request?.isWaitedFor;
  if (isUnasked && outcome.settlement.is === 'retry') batch.linesToSendAgain += 1;
  if (request === undefined) {
    if (answer) batch.onAnswer?.(member.row, answer);
    return;
  }
  request.leaveBatch();
  if (answer) {
    request.queue.answered();
    deliver(request, answer, 'batch', batch.token, cost);
    return;
  }
  for (const caller of request.waiting) {
    if (caller.isDue && !isToGoLate(request)) endAtDeadline(caller, request);
  }
  if (reason === undefined || !request.isWaitedFor) {
    request.end();
    return;
  }
  if (reason === 'expired') request.hasExpired = true;
  request.attempt = member.attempt + 1;
  const facts = factsOf(batch.batcher, batch.queue);
  tell(request.scope.emit, 'request:retried', { ...facts, attempt: request.attempt + 1, reason });
  retries.push(request);
}

/** The time of its callers is up, and the request goes on as a call of ours: in flex, or because what they signed is too old. */
function isToGoLate({ isWanted, isWaitedFor, scope, queue }: Request): boolean {
  if (isWanted || !isWaitedFor) return false;
  const { onDeadline } = scope;
  return onDeadline === 'flex' || (onDeadline === 'realtime' && queue.account.isSigned);
}

function isWorthAnother(
  { cancellation, queue }: Batch,
  request: Request | undefined,
  made: number,
  reason: RetryReason,
): boolean {
  // A cancel by someone else is final. After a cancel of ours, later callers get another try.
  if (reason === 'cancelled') return cancellation.isOurs;
  if (reason !== 'expired') {
    return made < (request?.scope.policy ?? queue.policy).attempts;
  }
  // It is tried once more, whatever else went wrong before. Only memory keeps that: a run that was killed may try again.
  return request ? !request.hasExpired : made === 1;
}

function finalAnswer(batch: Batch, reason: RetryReason, last: Answer): Answer {
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
