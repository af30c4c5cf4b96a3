import { messageOf } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { Batcher } from '../../batchers/batcher.ts';
import { inTurns } from '../../concurrency/event-loop.ts';
import type { Cost, Settlement } from '../../ledger/ledger.ts';
import { isSuccess } from '../../streams/stream-dialect.ts';
import { type AnswerSource, type BatchlingEvents, type CallFacts, tell } from '../events/events.ts';
import type { CapturedCall, Delivery } from '../model/call.ts';
import type { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { errorCodeOf } from './error-code.ts';
import { type OwnReason, ownAnswer } from './own-answer.ts';

type Answered = BatchlingEvents['call:answered'];

const deadlineMessage = 'The deadline passed before the batch had an answer for this request.';
const goesOnMessage =
  'The batch goes on at the provider: run the program again to get the answer without paying twice.';

/** Ends a request: its answer goes to all callers that wait for it. */
export function deliver(
  request: Request,
  answer: Answer,
  source: AnswerSource,
  batchToken?: string,
  cost?: Cost,
): void {
  request.end();
  const { callers } = request;
  // The parsed body belongs to one of them: the newest, because older ones may have given up.
  for (let at = callers.length - 1; at >= 0; at -= 1) {
    const told = at === callers.length - 1 ? answer : { ...answer, json: undefined };
    deliverOne(callers[at] as Caller, request, told, source, batchToken, cost);
  }
}

/** Hands an answer to one caller, once. Others may still wait for the same request. */
export function deliverOne(
  caller: Caller,
  request: Request,
  answer: Answer,
  source: AnswerSource,
  batchToken?: string,
  cost?: Cost,
): void {
  if (!request.settle(caller)) return;
  const { queue } = request;
  if (answer.status >= 400) queue.clientRetries.failed(caller, request, answer);
  const event = answered(queue, answer, source, batchToken, cost);
  const told = asAsked(caller, queue.batcher, answer);
  const delivery = { answer: told, source, batchToken, itemId: request.id };
  if (caller.part) caller.part.answered(event, delivery);
  else answerCall(caller.call, event, delivery);
}

/** The caller's time is up: it ends as its scope wishes. */
export function endAtDeadline(caller: Caller, request: Request): void {
  if (caller.scope.onDeadline === 'realtime') {
    goRealtime(caller, request);
    return;
  }
  if (goesOn(request) && !caller.isAbandoned) request.queue.clientRetries.gaveUp(caller, request);
  deliverOne(caller, request, deadlineAnswer(request), 'batch');
}

export function deadlineAnswer(request: Request): Answer {
  const message = goesOn(request) ? `${deadlineMessage} ${goesOnMessage}` : deadlineMessage;
  return ownAnswer(request.batcher, 'deadline', message);
}

/** The provider has the request, and nobody has cancelled its batch: there will be an answer. */
function goesOn({ batch }: Request): boolean {
  if (batch?.phase.name !== 'running' || batch.cancellation.isOurs) return false;
  return batch.phase.remote.state !== 'cancelling';
}

/** The call goes out by its own client's way. */
export function goRealtime(caller: Caller, request: Request): void {
  if (!request.settle(caller)) return;
  const route = request.queue.clientRetries.realtimeRoute(request, caller.scope);
  if (caller.part) caller.part.goesRealtime(route);
  else caller.call.settle({ realtime: route });
}

/** The call goes out as one that could not be captured, for this reason. */
function goUnbatched(caller: Caller, request: Request, reason: string): void {
  if (!request.settle(caller)) return;
  if (caller.part) caller.part.goesUnbatched(reason);
  else caller.call.settle({ bypass: reason });
}

/** All calls that wait for one of these. */
export function letGoUnbatched(requests: readonly Request[], reason: string): Promise<void> {
  return inTurns(requests, (request) => {
    for (const caller of request.waiting) goUnbatched(caller, request, reason);
  });
}

/** Hands an answer to a call, and tells of it. One whose client has gone has ended already. */
export function answerCall(call: CapturedCall, event: Answered, delivery: Delivery): void {
  if (call.settled) return;
  tell(call.scope.emit, 'call:answered', event);
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
  const { status } = answer;
  const event = { ...facts, status, source, error: `batchling_${reason}` } as const;
  answerCall(call, event, { answer, source, itemId: '' });
}

/** Assignments instead of spreads: this is made for every call. */
function answered(
  { batcher, endpoint, model }: RequestQueue,
  answer: Answer,
  source: AnswerSource,
  batchToken: string | undefined,
  cost: Cost | undefined,
): Answered {
  const { name: provider } = batcher.info;
  const event: { -readonly [Key in keyof Answered]: Answered[Key] } = {
    provider,
    endpoint,
    model,
    status: answer.status,
    source,
  };
  if (batchToken !== undefined) event.batch = batchToken;
  const error = answer.status < 400 ? undefined : errorCodeOf(answer);
  if (error !== undefined) event.error = error;
  if (cost === undefined) return event;
  const { inputTokens, outputTokens, paid, saved = 0 } = cost;
  event.inputTokens = inputTokens;
  event.outputTokens = outputTokens;
  if (paid !== undefined) event.dollars = { paid, saved };
  return event;
}

/** The stream that the caller asked for. A dialect may be the user's and throw: nobody may hang. */
function asAsked({ stream }: Caller, batcher: Batcher, answer: Answer): Answer {
  if (stream === undefined || !isSuccess(answer)) return answer;
  try {
    return stream(answer);
  } catch (error) {
    const message = messageOf(error);
    return ownAnswer(batcher, 'unsupported', `The answer cannot be streamed: ${message}`);
  }
}

/** Ends requests that are in no batch with an error of ours, durably. */
export async function refuseRequests(
  { ledger, owner }: Pick<EngineContext, 'ledger' | 'owner'>,
  requests: readonly Request[],
  answerFor: (request: Request) => Answer,
): Promise<void> {
  const answers = requests.map((request) => answerFor(request));
  const settlements = requests.map(
    ({ row }, index): Settlement => ({
      request: row,
      is: 'answer',
      answer: answers[index] as Answer,
    }),
  );
  try {
    await owner.run((id) => ledger.settled(id, settlements));
  } finally {
    // Whatever the ledger says, the callers must hear.
    await inTurns(requests, (request, index) => {
      deliver(request, answers[index] as Answer, 'batch');
    });
  }
}
