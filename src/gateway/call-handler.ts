import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RawAnswer, RawRequest } from '../hooks/state.ts';
import type { Dict } from '../types.ts';
import type { AsyncRequests } from './async-requests.ts';
import { deferred } from './deferred.ts';
import { forwardedHeaders } from './forwarded-headers.ts';
import { enterWaiting, type GatewayContext, ownCredential } from './gateway-context.ts';
import { heartbeatKind } from './heartbeat-kind.ts';
import { readBody } from './read-body.ts';
import { type RequestOptions, requestOptions } from './request-options.ts';
import { type Route, withoutCredentials } from './routes.ts';
import { leavingAnswer, sendAnswer, sendWaiting } from './send-answer.ts';
import { WaitingResponse } from './waiting-response.ts';
import { wantsStream } from './wants-stream.ts';

/** One request of a client, on its way through the gateway. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  /** As the provider is to see them. */
  readonly headers: Dict;
  readonly asked: RequestOptions;
}

/** Answers the calls of clients to their providers: by a batch, or passed through. */
export class CallHandler {
  readonly #context: GatewayContext;
  readonly #async: AsyncRequests;
  /** Clients that wait, and how they are told that the gateway leaves. */
  readonly waiting = new Set<() => void>();

  constructor(context: GatewayContext, async: AsyncRequests) {
    this.#context = context;
    this.#async = async;
  }

  async handle(request: IncomingMessage, response: ServerResponse, found: Route): Promise<void> {
    const { info } = found.place.registered;
    const own = ownCredential(this.#context, info.name);
    const route = own ? withoutCredentials(found) : found;
    const headers = forwardedHeaders(request.headers, info, own);
    const asked = requestOptions(request.headers);
    const exchange = { request, response, route, headers, asked };
    if (asked.isOff || request.method !== 'POST') return this.#passOn(exchange);
    const { scope, giveBack } = this.#context.scopes.lend(asked.key, asked.options);
    try {
      if (!scope.mayCapture('POST', route.url, headers['content-type'])) {
        return await this.#passOn(exchange);
      }
      const leave = enterWaiting(this.#context, request);
      try {
        const body = await readBody(request, this.#context.limits.bodySize);
        const isStream = wantsStream(route.url, body);
        if (asked.isAsync && !isStream) return await this.#askLater(exchange, body);
        const ask = scope.handleRequest.bind(scope);
        return await this.#hold(exchange, body, isStream, ask);
      } finally {
        leave();
      }
    } finally {
      giveBack();
    }
  }

  /** The client holds its connection until the answer is there. */
  async #hold(
    exchange: Exchange,
    body: Buffer,
    isStream: boolean,
    ask: (
      raw: RawRequest,
      signal: AbortSignal,
      sampling: RequestOptions['sampling'],
    ) => Promise<RawAnswer | undefined>,
  ): Promise<void> {
    const { request, response, route, asked } = exchange;
    const status = deferred<number | undefined>();
    const raw = rawRequest(exchange, body, () => status.promise);
    const client = new AbortController();
    const told = deferred<'leaving'>();
    const tell = () => told.resolve('leaving');
    const isOld = request.httpVersion !== '1.1';
    const waiting = new WaitingResponse(response, {
      heartbeat: isOld ? 'none' : (asked.heartbeat ?? heartbeatKind(request.headers['user-agent'])),
      isStream,
      namesEvents: route.place.registered.name === 'anthropic',
    });
    const closed = () => {
      if (response.writableEnded) return;
      this.#context.counts.gaveUp += 1;
      // As a client's own deadline: the request stays, and the client may come back for it.
      client.abort('timeout');
    };
    response.once('close', closed);
    this.#context.heartbeats.add(waiting);
    this.waiting.add(tell);
    try {
      if (response.destroyed) closed();
      const answer = await Promise.race([ask(raw, client.signal, asked.sampling), told.promise]);
      this.#context.heartbeats.delete(waiting);
      if (answer === 'leaving') waiting.end(await leavingAnswer(route));
      else if (answer) waiting.end(answer);
      else await this.#passOn(exchange, body, status.resolve);
    } catch (error) {
      if (!response.destroyed) throw error;
    } finally {
      this.#context.heartbeats.delete(waiting);
      this.waiting.delete(tell);
      response.off('close', closed);
      status.resolve(undefined);
    }
  }

  async #askLater(exchange: Exchange, body: Buffer): Promise<void> {
    const { request, response, route, asked } = exchange;
    const raw = rawRequest(exchange, body, async () => undefined);
    const asking = await this.#async.ask({ route, raw, asked, from: request });
    if ('id' in asking) sendWaiting(response, asking.id);
    else if (asking.answer) sendAnswer(response, asking.answer);
    else await this.#passOn(exchange, body);
  }

  async #passOn(
    { request, response, route, headers }: Exchange,
    body?: Buffer,
    answered?: (status: number | undefined) => void,
  ): Promise<void> {
    const { counts, passThrough } = this.#context;
    counts.passedThrough += 1;
    await passThrough.send(request, response, { url: route.url, headers, body }, answered);
  }
}

function rawRequest(
  { route, headers }: Exchange,
  body: Buffer,
  answered: RawRequest['answered'],
): RawRequest {
  return { method: 'POST', url: route.url, headers, body, answered };
}
