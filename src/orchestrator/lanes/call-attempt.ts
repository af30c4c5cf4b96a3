import { OwnerLostError } from '../../base/errors.ts';
import { parseJson } from '../../base/json.ts';
import type { FlexTier } from '../../batchers/batcher.ts';
import { type Deferred, deferred } from '../../concurrency/deferred.ts';
import { deliverHead, refuseRequests } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { OrdinaryLane, Spending } from '../model/call.ts';
import type { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import type { Budgets } from '../submit/budgets.ts';
import { asStored } from './attempt-end.ts';
import { type CallOutcome, outcomeOfError, outcomeOfReply } from './call-outcome.ts';
import { callRequest } from './call-request.ts';
import type { FlexTiers } from './flex-tiers.ts';
import { isStream, liveReply } from './live-reply.ts';
import type { Reservations } from './reservations.ts';

export interface LaneServices {
  readonly budgets: Budgets;
  readonly tiers: FlexTiers;
  withdraw(requests: readonly Request[]): void;
  /** The ledger has forgotten whose it is: it is asked again. */
  follow(request: Request): void;
  /** Ends callers whose time is up. */
  endDue(callers: readonly Caller[]): Promise<void>;
}

/** A request that is marked in the ledger and goes out as an ordinary call. */
export interface CallAttempt {
  readonly request: Request;
  readonly lane: OrdinaryLane;
  readonly body: string;
  /** The tier that it asks for. */
  readonly tier: FlexTier | undefined;
  /** Its part in the budget, if there is one. */
  readonly spending: Spending | undefined;
  readonly sentAt: number;
  /** Its abort ends the call. */
  readonly cancel: AbortController;
  /** Set if a stream can be passed on as it comes. */
  readonly stream: PassedStream | undefined;
}

/** A stream on its way to the only caller that waits. */
interface PassedStream {
  readonly caller: Caller;
  /** The caller has its head. */
  isBegun: boolean;
  /** To be resolved when its answer is stored, or will not come. */
  readonly ended: Deferred<void>;
}

/** Reserves the money, and marks the request in the ledger. `undefined`: it is not sent, and its callers know. */
export async function beginAttempt(
  context: EngineContext,
  services: LaneServices,
  request: Request,
  lane: OrdinaryLane,
  reserved: Reservations,
): Promise<CallAttempt | undefined> {
  for (const { call, scope } of request.callers) if (scope.ended) call.drop();
  if (!(await isToSend(services, request))) return undefined;
  const { queue, scope } = request;
  const [body = ''] = await queue.bodies.read([request]);
  const tier = lane === 'flex' ? queue.batcher.flex(queue) : undefined;
  const { budget } = scope;
  const spending =
    budget === undefined
      ? undefined
      : services.budgets.ofRealtimeCall({ queue, size: request, budget, terms: tier });
  let message = await spending?.reserve();
  // Other calls have reserved the most that they may cost. What is left of that is free when one of them has ended.
  for (let next = reserved.next; message !== undefined && next; next = reserved.next) {
    await next;
    if (!(await isToSend(services, request))) return undefined;
    message = await spending?.reserve();
  }
  if (message === undefined && spending) reserved.add(request);
  if (message !== undefined) {
    await refuseRequests(context, [request], () => ownAnswer(queue.batcher, 'budget', message));
    return undefined;
  }
  // The engine may have closed while it waited.
  const isStill = !context.stopped.aborted && (await isToSend(services, request));
  const isMarked = isStill && (await mark(context, services, request));
  if (isMarked) {
    const cancel = new AbortController();
    const sentAt = context.clock.now();
    return { request, lane, body, tier, spending, sentAt, cancel, stream: streamOf(request) };
  }
  spending?.paid(0);
  return undefined;
}

/** Its callers may have left, or their time may be up. */
async function isToSend({ endDue }: LaneServices, request: Request): Promise<boolean> {
  if (!request.isUnsent) return false;
  if (!request.isWanted) await endDue(request.waiting);
  return request.isUnsent && request.isWanted;
}

/** From here on the provider may have it, and the next run is told so if this one dies. */
async function mark(
  { ledger, owner }: EngineContext,
  { follow }: LaneServices,
  request: Request,
): Promise<boolean> {
  if (request.owner !== owner.id) {
    follow(request);
    return false;
  }
  request.beginSend();
  try {
    await ledger.markSent(owner.id, [request.row], true);
    return true;
  } catch (error) {
    request.leaveWire();
    if (!(error instanceof OwnerLostError)) throw error;
    follow(request);
    return false;
  }
}

/** A stream is passed on to one caller that can take it. Others get the answer when it is whole. */
function streamOf({ waiting }: Request): CallAttempt['stream'] {
  const [caller, ...others] = waiting;
  const isLive = caller?.stream?.live && caller.call.takesBytes && caller.part === undefined;
  return isLive && others.length === 0 ? { caller, isBegun: false, ended: deferred() } : undefined;
}

/** Puts it on the wire, and says what came of it. */
export async function makeAttempt(
  { clock }: Pick<EngineContext, 'clock'>,
  { request, lane, body, tier, cancel, stream }: CallAttempt,
): Promise<CallOutcome> {
  const { queue, batcher } = request;
  const live = stream?.caller.stream?.live;
  try {
    const reply = await queue.wire.send({
      ...callRequest(request, body, tier, live),
      signal: cancel.signal,
    });
    const { status, headers } = reply;
    if (live && isStream(reply)) {
      const left = new AbortController();
      const { bytes, whole } = liveReply(reply, live, left.signal);
      const { requestIdHeader } = batcher.info;
      const head = { ...asStored({ status, headers, body: '' }, requestIdHeader), bytes };
      stream.isBegun = deliverHead(stream.caller, request, head, lane, {
        ended: stream.ended.promise,
        left,
      });
      const answer = await whole;
      if (answer) return outcomeOfReply(batcher, tier, answer, clock.now());
      return { is: 'failed', last: undefined, message: 'its stream ended before the answer did' };
    }
    const text = await reply.text();
    const answer = { status, headers, body: text, json: parseJson(text) };
    return outcomeOfReply(batcher, tier, answer, clock.now());
  } catch (error) {
    return outcomeOfError(error);
  }
}
