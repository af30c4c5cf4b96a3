import type { IncomingMessage, ServerResponse } from 'node:http';
import { performFault } from '../faults/perform-fault.ts';
import { findMount, type Mount } from '../providers.ts';
import { accountOf, credentialOf, redactHeaders, redactQuery } from '../world/accounts.ts';
import { findRoute } from '../world/provider.ts';
import { newId } from '../world/random.ts';
import type { SimulatorState } from '../world/state.ts';
import { answerControl, controlPrefix } from './control.ts';
import { type Exchange, jsonReply, Refusal, type Reply } from './exchange.ts';
import { sendReply } from './send-reply.ts';

/** The request listener: finds the provider, lets a scripted fault strike, else answers. */
export function createListener(state: SimulatorState) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    response.once('close', () => state.waiting.delete(socket));
    handle(state, request, response)
      // An upload that was refused halfway has to be read on, or its connection would stall.
      .then(() => request.resume())
      // Only a connection that broke under us ends here; nobody is left to answer.
      .catch(() => socket.destroy());
  };
}

async function handle(
  state: SimulatorState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://simulator');
  const method = request.method ?? 'GET';
  if (url.pathname.startsWith(controlPrefix)) {
    return sendReply(response, await answerControl(state, method, url, request));
  }
  state.waiting.add(request.socket);
  const mount = findMount(state.providers, url.pathname);
  if (mount === null) {
    const message = `The simulator serves no ${method} ${url.pathname}`;
    return sendReply(response, jsonReply({ error: { message } }, 404));
  }
  const { name, provider, prefix, path } = mount;
  const { headers } = request;
  const credential =
    provider.credentialIn?.(headers) ??
    credentialOf(headers, url.searchParams, provider.keyHeaders);
  const account =
    credential === null ? '' : accountOf(name, credential, headers, provider.scopeHeaders);
  const origin = `http://${headers.host ?? request.socket.localAddress}${prefix}`;
  const query = url.searchParams;
  // A refusal stops reading the body, but has to leave the connection whole for its answer.
  const body: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
  const exchange: Exchange = { method, path, query, headers, origin, account, body };
  const requestId = newId('req_');
  response.setHeader(provider.requestIdHeader, requestId);

  const work = (received: Exchange) => answer(state, mount, received, credential, requestId);
  const fault = state.world.faults.take({ method, path, provider: name });
  state.log.add({
    method,
    path,
    query: redactQuery(url.search),
    provider: name,
    account: account === '' ? null : account,
    headers: redactHeaders(headers, provider.keyHeaders),
    fault: fault?.kind ?? null,
    at: state.world.clock.now(),
  });
  if (fault === null) return sendReply(response, await work(exchange));
  const scriptedError = (status: number) =>
    refusalReply(mount, new Refusal(status, `scripted fault ${status}`), requestId);
  const { clock } = state.world;
  return performFault(fault, { request, response, exchange, clock, work, scriptedError });
}

async function answer(
  state: SimulatorState,
  mount: Mount,
  exchange: Exchange,
  credential: string | null,
  requestId: string,
): Promise<Reply> {
  const { provider } = mount;
  try {
    const route = findRoute(provider.routes, exchange.method, exchange.path);
    if (route?.isSigned) return await route.handler(exchange, route.id);
    if (credential === null || credential.startsWith('invalid')) {
      throw provider.unauthorized(credential !== null);
    }
    const { world, rates } = state;
    const isCreate = exchange.method === 'POST' && isPath(exchange.path, provider.createPath);
    const limits = world.settings.limits[mount.name] ?? {};
    rates.demand(exchange.account, isCreate, limits, world.clock.now());
    if (route === null) throw provider.notFound(exchange);
    return await route.handler(exchange, route.id);
  } catch (error) {
    if (error instanceof Refusal) return refusalReply(mount, error, requestId);
    if (isBrokenConnection(error)) throw error;
    // A mistake of the simulator's own must be told apart from a simulated fault.
    const message = `simulator error: ${error instanceof Error ? error.stack : error}`;
    return refusalReply(mount, new Refusal(500, message), requestId);
  }
}

function isPath(path: string, wanted: string | RegExp): boolean {
  return typeof wanted === 'string' ? path === wanted : wanted.test(path);
}

function refusalReply(mount: Mount, refusal: Refusal, requestId: string): Reply {
  const reply = jsonReply(mount.provider.errorBody(refusal, requestId, mount.path), refusal.status);
  return { ...reply, headers: { ...reply.headers, ...refusal.details.headers } };
}

function isBrokenConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}
