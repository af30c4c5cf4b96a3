import { type ClientCall, goOut, type Outgoing, signalOf } from './client-call.ts';
import type { Emit } from './orchestrator/events.ts';
import { publish } from './orchestrator/events.ts';
import { isTriedAgain } from './orchestrator/returning.ts';
import { Slots } from './orchestrator/slots.ts';
import type { Clock } from './types.ts';

/** The client's own limit is long over when a call that waited for a batch goes out. */
const timeLimit = 10 * 60_000;

/** For all scopes: a provider counts the calls of the process, not of a scope. */
const slots = new Slots();

/**
 * Sends a call that was captured as the ordinary call it is, by its own client's way, and not too
 * many at once.
 */
export async function sendRealtime(
  call: ClientCall<Response>,
  atOnce: number,
  emit: Emit,
  clock: Clock,
): Promise<Response | 'timed out'> {
  await slots.acquire(() => atOnce);
  try {
    const response = await inTime(call.outgoing as Outgoing, clock).catch((error: unknown) => {
      staysRealtime(call);
      throw error;
    });
    if (response === 'timed out') return response;
    if (isTriedAgain(response.status)) staysRealtime(call);
    const { info } = call.target.batcher;
    const event = {
      provider: info.name,
      endpoint: call.pending?.queue.endpoint ?? call.target.path,
      model: call.pending?.queue.model ?? '',
      status: response.status,
      source: 'realtime',
    } as const;
    publish('call:answered', event);
    emit('call:answered', event);
    return marked(response);
  } finally {
    slots.release();
  }
}

/** What its client tries again goes out at once, too: it has waited long enough. */
function staysRealtime({ pending }: ClientCall<Response>): void {
  if (pending) pending.queue.returning.wentRealtime(pending);
}

/** Waits for the head of the answer; what of the body comes later is the client's affair. */
async function inTime(outgoing: Outgoing, clock: Clock): Promise<Response | 'timed out'> {
  const limit = new AbortController();
  const given = signalOf(outgoing);
  const signal = given ? AbortSignal.any([given, limit.signal]) : limit.signal;
  const timer = clock.setTimeout(() => limit.abort(), timeLimit);
  try {
    return await goOut({ ...outgoing, init: { ...outgoing.init, signal } });
  } catch (error) {
    if (limit.signal.aborted && !given?.aborted) return 'timed out';
    throw error;
  } finally {
    clock.clearTimeout(timer);
  }
}

/** The headers of a fetched response cannot be changed, so it gets a new head around its body. */
function marked(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set('x-batchling-source', 'realtime');
  const { status, statusText, url } = response;
  const copy = new Response(response.body, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}
