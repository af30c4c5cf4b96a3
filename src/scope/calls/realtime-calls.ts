import type { Clock } from '../../base/types.ts';
import { Semaphore } from '../../concurrency/semaphore.ts';
import type { Cost } from '../../ledger/ledger.ts';
import { isTriedAgain } from '../../orchestrator/capture/client-retries.ts';
import type { RealtimeRoute } from '../../orchestrator/model/call.ts';
import type { ClientCall } from './client-call.ts';
import { readCost } from './realtime-cost.ts';

/** The client's own limit is long over when a call that waited for a batch goes out. */
const timeLimit = 10 * 60_000;

/** For all scopes: a provider counts the calls of the process, not of a scope. */
const slots = new Semaphore();

type RealtimeCall = Pick<ClientCall, 'signal' | 'abandoned' | 'realtimeAbort'>;

export interface RealtimeRules {
  readonly atOnce: number;
  readonly route: RealtimeRoute;
  /** Told the status of a call that has its response, and what it costs, where that can be known. */
  readonly answered: (status: number, cost?: Promise<Cost | undefined>) => void;
  readonly clock: Clock;
  /** Its abort rejects, with its reason, the calls that have not gone out yet. */
  readonly line: AbortSignal;
}

/** Why the budget has no room for a call, for its caller. */
interface Refused {
  readonly refused: string;
}

/**
 * Sends a call that was captured as the ordinary call it is, by its own client's way, and not too
 * many at once.
 */
export async function sendRealtime<Result>(
  call: ClientCall<Result>,
  rules: RealtimeRules,
): Promise<{ readonly status: number; readonly result: Result } | Refused | 'timed out'> {
  const limit = new AbortController();
  call.realtimeAbort = limit;
  const refused = await takeTurn(call, rules);
  if (refused !== undefined) return { refused };
  try {
    const result = await inTime(call, limit, rules.clock).catch((error: unknown) => {
      ended(undefined, rules);
      throw error;
    });
    if (result === 'timed out') return 'timed out';
    // A call that we send ourselves brings a response.
    const response = result as Response;
    const { status } = response;
    ended(status, rules, readCost(response, rules.route));
    return { status, result: await marked(call, result, call.abandoned) };
  } finally {
    slots.release();
  }
}

/** Sends a call that is not batched after all, and whose client's time is over, by its own client's way. */
export async function sendLate<Result>(
  call: ClientCall<Result>,
  clock: Clock,
): Promise<Result | 'timed out'> {
  const limit = new AbortController();
  call.realtimeAbort = limit;
  const result = await inTime(call, limit, clock);
  return result === 'timed out' ? result : marked(call, result, true);
}

/**
 * Like `sendRealtime` for a client that sends the call itself when this resolves: all that
 * is seen of it is the status. `done` is told when there is nothing more to wait for. That is the case
 * after the time limit, too: such a call is the client's affair from then on.
 */
export async function letOutRealtime<Result>(
  call: ClientCall<Result>,
  rules: RealtimeRules,
  done: () => void,
): Promise<Refused | undefined> {
  // A client without a signal, as a gateway has them, leaves the line by this one.
  const left = call.signal === undefined ? new AbortController() : undefined;
  if (left) call.realtimeAbort = left;
  const refused = await takeTurn(call, rules, left?.signal).catch((error: unknown) => {
    done();
    throw error;
  });
  if (refused !== undefined) {
    done();
    return { refused };
  }
  const leave = once(() => {
    slots.release();
    done();
  });
  const timer = rules.clock.setTimeout(leave, timeLimit);
  void call.incoming?.answered?.().then((status) => {
    ended(status, rules);
    rules.clock.clearTimeout(timer);
    leave();
  });
  return undefined;
}

/** The signal of a client whose time is over says nothing any more: then the call has one of its own. */
function signalOf({ signal, abandoned, realtimeAbort }: RealtimeCall): AbortSignal | undefined {
  return abandoned ? realtimeAbort?.signal : signal;
}

/** A call that waits for its turn holds no money: it may never go out. A text says why there is none for it. */
async function takeTurn(
  call: RealtimeCall,
  { line, atOnce, route: { spending } }: RealtimeRules,
  given = signalOf(call),
): Promise<string | undefined> {
  const signals = given ? [given, line] : [line];
  await slots.acquire(atOnce, signals);
  const refused = await spending?.reserve();
  const ended = signals.find(({ aborted }) => aborted);
  if (ended === undefined && refused === undefined) return undefined;
  slots.release();
  if (ended === undefined) return refused;
  if (refused === undefined) spending?.paid(0);
  throw ended.reason;
}

/** `undefined`: without a response. */
function ended(
  status: number | undefined,
  { route, answered }: RealtimeRules,
  cost?: Promise<Cost | undefined>,
): void {
  // A retry by its client goes out at once, too: the call has waited long enough.
  if (status === undefined || isTriedAgain(status)) route.mayBeRetried();
  if (status !== undefined) answered(status, cost);
}

/** Waits for the head of the response; reading its body is the client's affair. */
async function inTime<Result>(
  call: ClientCall<Result>,
  limit: AbortController,
  clock: Clock,
): Promise<Result | 'timed out'> {
  let timedOut = false;
  const given = call.abandoned ? undefined : call.signal;
  const signal = given ? AbortSignal.any([given, limit.signal]) : limit.signal;
  const timer = clock.setTimeout(() => {
    timedOut = true;
    limit.abort();
  }, timeLimit);
  try {
    return await call.send(signal);
  } catch (error) {
    if (timedOut && !given?.aborted) return 'timed out';
    throw error;
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Shows where the response comes from. A client that has lost patience before is followed while it reads. */
async function marked<Result>(
  call: ClientCall<Result>,
  result: Result,
  isFollowed: boolean,
): Promise<Result> {
  return call.incoming?.mark?.(result, isFollowed ? call : undefined) ?? result;
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}
