import type { Clock } from '../../base/types.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import { type BodyReader, watchedBody } from '../../hooks/fetch/read-body.ts';
import type { RawRequest } from '../../hooks/state.ts';
import { isTriedAgain } from '../../orchestrator/capture/client-retries.ts';
import type { RealtimeRoute } from '../../orchestrator/model/call.ts';
import { type ClientCall, goOut, type Outgoing } from './client-call.ts';
import { type Cost, readCost } from './realtime-cost.ts';

/** The client's own limit is long over when a call that waited for a batch goes out. */
const timeLimit = 10 * 60_000;

/** For all scopes: a provider counts the calls of the process, not of a scope. */
const slots = new Semaphore();

type RealtimeCall = Pick<ClientCall, 'signal' | 'abandoned' | 'wayOut'>;

export interface RealtimeRules {
  readonly atOnce: number;
  readonly route: RealtimeRoute;
  /** Told the status of a call that has its response, and what it costs, where that can be known. */
  readonly answered: (status: number, cost?: Promise<Cost>) => void;
  readonly clock: Clock;
  /** Its abort rejects, with its reason, who has not gone out yet. */
  readonly line: AbortSignal;
}

/**
 * Sends a call that was captured as the ordinary call it is, by its own client's way, and not too
 * many at once.
 */
export async function sendRealtime(
  call: ClientCall<Response>,
  rules: RealtimeRules,
): Promise<Response | 'timed out'> {
  const limit = new AbortController();
  call.wayOut = limit;
  await takeTurn(call, rules);
  try {
    const response = await inTime(call, limit, rules.clock).catch((error: unknown) => {
      ended(undefined, rules);
      throw error;
    });
    if (response === 'timed out') return response;
    ended(response.status, rules, readCost(response, rules.route));
    return marked(response, call.abandoned ? call : undefined);
  } finally {
    slots.release();
  }
}

/** Sends a call that is not batched after all, and whose client's time is over, by its own client's way. */
export async function sendLate(
  call: ClientCall<Response>,
  clock: Clock,
): Promise<Response | 'timed out'> {
  const limit = new AbortController();
  call.wayOut = limit;
  const response = await inTime(call, limit, clock);
  return response === 'timed out' ? response : marked(response, call);
}

/**
 * Like `sendRealtime` for a client that is not fetch: it sends the call itself when this resolves, and all that
 * is seen of it is the status. `done` is told when there is nothing more to wait for. That is the case
 * after the time limit, too: such a call is the client's affair from then on.
 */
export async function letOutRealtime(
  call: RealtimeCall,
  rules: RealtimeRules,
  answered: RawRequest['answered'],
  done: () => void,
): Promise<void> {
  await takeTurn(call, rules).catch((error: unknown) => {
    done();
    throw error;
  });
  const leave = once(() => {
    slots.release();
    done();
  });
  const timer = rules.clock.setTimeout(leave, timeLimit);
  void answered().then((status) => {
    ended(status, rules);
    rules.clock.clearTimeout(timer);
    leave();
  });
}

/** A client whose time is over may be told of nothing by its signal: then the call itself is. */
function signalOf({ signal, abandoned, wayOut }: RealtimeCall): AbortSignal | undefined {
  return abandoned ? wayOut?.signal : signal;
}

async function takeTurn(call: RealtimeCall, rules: RealtimeRules): Promise<void> {
  const given = signalOf(call);
  const signals = given ? [given, rules.line] : [rules.line];
  await slots.acquire(rules.atOnce, signals);
  const ended = signals.find(({ aborted }) => aborted);
  if (ended === undefined) return;
  slots.release();
  throw ended.reason;
}

/** `undefined`: without a response. */
function ended(
  status: number | undefined,
  { route, answered }: RealtimeRules,
  cost?: Promise<Cost>,
): void {
  // What its client tries again goes out at once, too: it has waited long enough.
  if (status === undefined || isTriedAgain(status)) route.mayBeRetried();
  if (status !== undefined) answered(status, cost);
}

/** Waits for the head of the answer; what of the body comes later is the client's affair. */
async function inTime(
  call: ClientCall<Response>,
  limit: AbortController,
  clock: Clock,
): Promise<Response | 'timed out'> {
  let timedOut = false;
  const given = call.abandoned ? undefined : call.signal;
  const outgoing = call.outgoing as Outgoing;
  const signal = given ? AbortSignal.any([given, limit.signal]) : limit.signal;
  const timer = clock.setTimeout(() => {
    timedOut = true;
    limit.abort();
  }, timeLimit);
  try {
    return await goOut({ ...outgoing, init: { ...outgoing.init, signal } });
  } catch (error) {
    if (timedOut && !given?.aborted) return 'timed out';
    throw error;
  } finally {
    clock.clearTimeout(timer);
  }
}

/** The headers of a fetched response cannot be changed, so it gets a new head around its body. */
function marked(response: Response, reader: BodyReader | undefined): Response {
  const headers = new Headers(response.headers);
  headers.set('x-batchling-source', 'realtime');
  const { status, statusText, url } = response;
  const body = response.body && reader ? watchedBody(response.body, reader) : response.body;
  const copy = new Response(body, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
