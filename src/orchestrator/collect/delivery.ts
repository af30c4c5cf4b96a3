import type { Batcher, Usage } from '../../batchers/batcher.ts';
import { messageOf } from '../../errors.ts';
import type { Ledger, OwnerId, Settlement } from '../../ledger/ledger.ts';
import { priceOf } from '../../pricing/prices.ts';
import { isSuccess } from '../../streams/stream-dialect.ts';
import type { Answer } from '../../types.ts';
import { type AnswerSource, type BatchlingEvents, type CallFacts, tell } from '../model/events.ts';
import { inTurns } from '../model/in-turns.ts';
import { type OwnReason, ownAnswer } from '../model/own-answer.ts';
import type { CapturedCall, Delivery, PendingRequest } from '../model/request.ts';

type Answered = BatchlingEvents['call:answered'];

/** Hands an answer to all who wait for this request. */
export function deliver(
  pending: PendingRequest,
  answer: Answer,
  source: AnswerSource,
  batchToken?: string,
  itemId = pending.id,
): void {
  deliverOne(pending, answer, source, batchToken, itemId);
  // Without the parsed body: that belongs to the first.
  for (let other = pending.also; other; other = other.also) {
    deliverOne(other, { ...answer, json: undefined }, source, batchToken, itemId);
  }
}

/** Hands an answer to one caller, once. Others may still wait for the same request. */
export function deliverOne(
  pending: PendingRequest,
  answer: Answer,
  source: AnswerSource,
  batchToken?: string,
  itemId = pending.id,
): void {
  if (pending.settled) return;
  pending.settled = true;
  pending.queue.spool.letGo(pending);
  if (pending.call.abandoned) pending.queue.returning.abandoned.ended(pending.call);
  if (answer.status >= 400) pending.queue.returning.failed(pending, answer);
  answerCall(pending.call, answered(pending, answer, source, batchToken), {
    answer: asAsked(pending, answer),
    source,
    batchToken,
    itemId,
  });
}

/** Hands an answer to a call, and tells of it. One whose client has gone has ended already. */
export function answerCall(call: CapturedCall, event: Answered, delivery: Delivery): void {
  if (call.settled) return;
  tell(call.scope.emit, 'call:answered', event);
  call.scope.rounds?.answered(delivery.answer);
  call.settle(delivery);
}

/** Ends a call that no request stands behind, with an error of ours. */
export function refuseCall(
  call: CapturedCall,
  facts: CallFacts,
  reason: OwnReason,
  message: string,
): void {
  const source = 'batch';
  let answer: Answer;
  try {
    answer = ownAnswer(call.target.batcher, reason, message);
  } catch (error) {
    // A batcher of the user's without an error body.
    call.fail(error);
    return;
  }
  answerCall(call, { ...facts, status: answer.status, source }, { answer, source, itemId: '' });
}

/** Assignments instead of spreads: this is made for every call. */
function answered(
  { batcher, queue }: PendingRequest,
  answer: Answer,
  source: AnswerSource,
  batchToken: string | undefined,
): Answered {
  const { info } = batcher;
  const { endpoint, model } = queue;
  const event: { -readonly [Key in keyof Answered]: Answered[Key] } = {
    provider: info.name,
    endpoint,
    model,
    status: answer.status,
    source,
  };
  if (batchToken !== undefined) event.batch = batchToken;
  const usage = source === 'batch' ? usageOf(batcher, answer) : undefined;
  if (usage === undefined) return event;
  event.inputTokens = usage.inputTokens;
  event.outputTokens = usage.outputTokens;
  const listPrice = priceOf(info.name, model, usage);
  if (listPrice !== undefined) {
    event.dollars = {
      paid: listPrice * queue.completionWindow.priceShare,
      saved: listPrice * (1 - queue.completionWindow.priceShare),
    };
  }
  return event;
}

/** A batcher may be the user's and throw: its caller must not pay for that. */
function usageOf(batcher: Batcher, { json }: Answer): Usage | undefined {
  try {
    return batcher.usage(json);
  } catch {
    return undefined;
  }
}

/** The stream that the caller asked for. A dialect may be the user's and throw: nobody may hang. */
function asAsked({ stream, batcher }: PendingRequest, answer: Answer): Answer {
  if (stream === undefined || !isSuccess(answer)) return answer;
  try {
    return stream(answer);
  } catch (error) {
    const message = messageOf(error);
    return ownAnswer(batcher, 'unsupported', `The answer cannot be streamed: ${message}`);
  }
}

/** Ends requests that are in no batch with an error of ours, durably. */
export async function refuse(
  ledger: Ledger,
  owner: OwnerId,
  requests: readonly PendingRequest[],
  answerFor: (pending: PendingRequest) => Answer,
): Promise<void> {
  const answers = requests.map((pending) => answerFor(pending));
  const settlements = requests.map(
    (pending, index): Settlement => ({
      request: pending.request,
      is: 'answer',
      answer: answers[index] as Answer,
    }),
  );
  try {
    await ledger.settled(owner, settlements);
  } finally {
    // Whatever the ledger says, the callers must hear.
    await inTurns(requests, (pending, index) => {
      deliver(pending, answers[index] as Answer, 'batch');
    });
  }
}

/** The same, with one reason for all. */
export function refuseAll(
  ledger: Ledger,
  owner: OwnerId,
  requests: readonly PendingRequest[],
  reason: OwnReason,
  message: string,
): Promise<void> {
  return refuse(ledger, owner, requests, (pending) => ownAnswer(pending.batcher, reason, message));
}
