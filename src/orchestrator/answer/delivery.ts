import { tracing } from '../../base/call-tracing.ts';
import { messageOf } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import type { Batcher } from '../../batchers/batcher.ts';
import { inTurns } from '../../concurrency/event-loop.ts';
import type { Cost, Settlement } from '../../ledger/ledger.ts';
import { isSuccess } from '../../streams/stream-dialect.ts';
import { type AnswerSource, type BatchlingEvents, type CallFacts, tell } from '../events/events.ts';
import type { CapturedCall, Delivery, LiveBody } from '../model/call.ts';
import type { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { RequestQueue } from '../model/request-queue.ts';
import { errorCodeOf } from './error-code.ts';
import { type OwnReason, ownAnswer } from './own-answer.ts';

type Answered = BatchlingEvents['call:answered'];

const deadlineMessage = 'The deadline passed before there was an answer for this request.';
const goesOnMessage =
  'It goes on at the provider: run the program again to get the answer without paying twice.';
const onWireMessage =
  'Its call is on the wire and may be paid for: its answer is kept if it comes before the program ends.';

/**
 * Ends a request: its answer goes to all callers that wait for it. Its cost is told once, because it is paid once.
 * `streamed`: a caller that has had the answer as it came.
 */
export function deliver(
  request: Request,
  answer: Answer,
  source: AnswerSource,
  batchToken?: string,
  cost?: Cost,
  streamed?: Caller,
): void {
  request.end(answer, cost);
  const { callers } = request;
  let untold = cost;
  if (streamed) {
    tellEnd(streamed, request, answer, source, cost);
    untold = undefined;
  }
  // The parsed body belongs to one of them: the newest, because older ones may have given up.
  for (let at = callers.length - 1; at >= 0; at -= 1) {
    const told = at === callers.length - 1 ? answer : { ...answer, json: undefined };
    const caller = callers[at] as Caller;
    if (deliverOne(caller, request, told, source, batchToken, untold)) untold = undefined;
  }
}

/** Hands an answer to one caller, once. Others may still wait for the same request. False: the caller has gone. */
export function deliverOne(
  caller: Caller,
  request: Request,
  answer: Answer,
  source: AnswerSource,
  batchToken?: string,
  cost?: Cost,
): boolean {
  if (!request.settle(caller)) return false;
  const { queue } = request;
  if (answer.status >= 400) queue.clientRetries.failed(caller, request, answer);
  const event = answered(queue, answer, source, batchToken, cost);
  const told = asAsked(caller, queue.batcher, answer);
  const delivery = { answer: told, source, batchToken, itemId: request.id };
  if (caller.part === undefined) return answerCall(caller.call, event, delivery);
  caller.part.answered(event, delivery);
  return true;
}

/** Hands the head of an answer to a caller, whose body is still to come. What is told of it comes with its end. False: the caller has gone. */
export function deliverHead(
  caller: Caller,
  request: Request,
  answer: Answer,
  source: AnswerSource,
  live: LiveBody,
): boolean {
  if (!request.settle(caller)) return false;
  caller.call.settle({ answer, source, itemId: request.id, live });
  return true;
}

/** The answer whose head was delivered has ended, or has broken off. */
export function tellEnd(
  { scope, call }: Caller,
  { queue }: Request,
  answer: Pick<Answer, 'status' | 'headers' | 'body'>,
  source: AnswerSource,
  cost?: Cost,
): void {
  const event = answered(queue, answer, source, undefined, cost);
  tell(scope.emit, 'call:answered', event);
  tracing.tracer?.answered(call, event);
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
  const onWhat = request.stage === 'sending' ? onWireMessage : goesOnMessage;
  const message = goesOn(request) ? `${deadlineMessage} ${onWhat}` : deadlineMessage;
  return ownAnswer(request.batcher, 'deadline', message);
}

/** The provider has the request, and nobody has cancelled its batch. */
function goesOn({ batch, stage }: Request): boolean {
  if (stage === 'sending') return true;
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

/** Hands an answer to a call, and tells of it. False: its client has gone, so that it has ended already. */
export function answerCall(call: CapturedCall, event: Answered, delivery: Delivery): boolean {
  if (call.settled) return false;
  tell(call.scope.emit, 'call:answered', event);
  tracing.tracer?.answered(call, event);
  call.settle(delivery);
  return true;
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
  { batcher, endpoint, model, policy }: RequestQueue,
  answer: Answer,
  source: AnswerSource,
  batchToken: string | undefined,
  cost: Cost | undefined,
): Answered {
  const { name: provider } = batcher.info;
  const event: MutableAnswered = {
    provider,
    endpoint,
    model,
    status: answer.status,
    source,
  };
  if (policy.lane !== 'batch') event.lane = policy.lane;
  if (batchToken !== undefined) event.batch = batchToken;
  const error = answer.status < 400 ? undefined : errorCodeOf(answer);
  if (error !== undefined) event.error = error;
  return withCost(event, cost);
}

type MutableAnswered = { -readonly [Key in keyof Answered]: Answered[Key] };

/** The event with what the answer has cost, as far as that is known. */
export function withCost(event: MutableAnswered, cost: Cost | undefined): Answered {
  if (cost === undefined) return event;
  const { inputTokens, outputTokens, paid, saved = 0 } = cost;
  event.inputTokens = inputTokens;
  event.outputTokens = outputTokens;
  if (cost.cacheReadTokens !== undefined) event.cacheReadTokens = cost.cacheReadTokens;
  if (cost.cacheWriteTokens !== undefined) event.cacheWriteTokens = cost.cacheWriteTokens;
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
