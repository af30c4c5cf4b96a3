import type { ItemId } from '../../types.ts';
import type { ActiveBatch, BatchMember } from '../model/batch.ts';
import { factsOf, tell } from '../model/events.ts';
import { type PendingRequest, standingFor } from '../model/request.ts';
import { endAtDeadline } from '../watch/deadlines.ts';
import { deliver } from './delivery.ts';
import { letGoOf } from './dissolve.ts';
import type { Decided } from './line-outcome.ts';

/** What was decided about a line of a batch. */
export interface Decision {
  readonly id: ItemId;
  readonly member: BatchMember;
  readonly decided: Decided;
}

/** The ledger knows: now the callers may. What is to be tried again is added to `retries`. */
export function conclude(
  batch: ActiveBatch,
  { id, member, decided }: Decision,
  retries: PendingRequest[],
): void {
  member.settled = true;
  const { pending } = member;
  // Nothing is asked of it here any more, and the batch lives on until its last line is stored.
  member.pending = undefined;
  if (decided.answer) {
    if (decided.answer.status < 400) batch.answered += 1;
    else batch.failed += 1;
  }
  if (pending === undefined) return;
  if (decided.answer) {
    deliver(pending, decided.answer, 'batch', batch.token, id);
    for (let one: PendingRequest | undefined = pending; one; one = one.also) letGoOf(one);
    return;
  }
  const callers = pending.callers();
  for (const caller of callers) {
    if (!caller.settled && caller.due) endAtDeadline(caller);
    letGoOf(caller);
  }
  const stands = standingFor(callers.filter(({ settled }) => !settled));
  if (stands) retry(batch, stands, member.attempt + 1, decided, retries);
}

function retry(
  { batcher, queue }: ActiveBatch,
  pending: PendingRequest,
  attempt: number,
  { reason }: Decided,
  retries: PendingRequest[],
): void {
  pending.attempt = attempt;
  const event = {
    ...factsOf(batcher, queue),
    attempt: attempt + 1,
    reason: reason as string,
  };
  tell(pending.scope.emit, 'request:retried', event);
  retries.push(pending);
}
