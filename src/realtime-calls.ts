import { type ClientCall, goOut, type Outgoing } from './client-call.ts';
import type { Emit } from './orchestrator/events.ts';
import { publish } from './orchestrator/events.ts';
import { Slots } from './orchestrator/slots.ts';

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
): Promise<Response> {
  await slots.acquire(() => atOnce);
  try {
    const response = await goOut(call.outgoing as Outgoing);
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

/** The headers of a fetched response cannot be changed, so it gets a new head around its body. */
function marked(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set('x-batchling-source', 'realtime');
  const { status, statusText, url } = response;
  const copy = new Response(response.body, { status, statusText, headers });
  return Object.defineProperty(copy, 'url', { value: url });
}
