import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { invariant } from '../base/errors.ts';
import type { Dict } from '../base/types.ts';
import { deferred } from '../concurrency/deferred.ts';
import type { RawAnswer } from '../hooks/border.ts';
import { type RawRequest, rawCall } from '../hooks/raw-call.ts';
import type { ScopeCalls } from '../scope/calls/scope-calls.ts';
import { type ReadBody, readBody } from './admission/read-request-body.ts';
import type { AsyncRequests } from './async-requests.ts';
import { enterWaiting, type GatewayContext, ownCredential } from './gateway-context.ts';
import { GatewayError } from './gateway-error.ts';
import { forwardedHeaders } from './pass-through/forwarded-headers.ts';
import { IdenticalCalls } from './request/identical-calls.ts';
import { type RequestOptions, requestOptions } from './request/request-options.ts';
import { type Route, withoutCredentials } from './request/routes.ts';
import { wantsStream } from './request/wants-stream.ts';
import { sendAnswer, sendWaiting } from './send-answer.ts';
import { heartbeatKind, WaitingResponse } from './waiting/waiting-response.ts';

/** One request of a client, on its way through the gateway. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  /** The headers that the provider is to see. */
  readonly headers: Dict;
  readonly asked: RequestOptions;
}

/** The state of a call that was to be batched, and is passed on. */
interface PassedOn {
  readonly answered?: (status: number | undefined) => void;
  readonly waiting?: WaitingResponse;
}

/** Answers the calls of clients to their providers: by a batch, or passed through. */
export class CallHandler {
  readonly #context: GatewayContext;
  readonly #async: AsyncRequests;
  readonly #identical: IdenticalCalls;
  /** Clients that wait, and how they are told that the gateway leaves. */
  readonly #waiting = new Set<() => void>();
  #isLeaving = false;

  constructor(context: GatewayContext, async: AsyncRequests) {
    this.#context = context;
    this.#async = async;
    this.#identical = new IdenticalCalls(context.clock);
  }

  /** Tells clients that wait to come back, and those whose requests are still arriving. */
  leave(): void {
    this.#isLeaving = true;
    for (const tell of this.#waiting) tell();
  }

  async handle(request: IncomingMessage, response: ServerResponse, found: Route): Promise<void> {
    const { info } = found.place.registered;
    const own = ownCredential(this.#context, info.name);
    const route = own ? withoutCredentials(found) : found;
    const headers = forwardedHeaders(request.headers, info, own);
    const asked = requestOptions(request.headers);
    const exchange = { request, response, route, headers, asked };
    if (request.method !== 'POST') return this.#passOn(exchange);
    const { scope, giveBack } = this.#context.scopes.lend(asked.key, asked.options);
    try {
      if (!scope.calls.mayCapture(route.url, headers['content-type'])) {
        return await this.#passOn(exchange);
      }
      if (asked.isOff) {
        if (this.#context.hasBudget) throw uncounted();
        return await this.#passOn(exchange);
      }
      const leave = enterWaiting(this.#context, request);
      const { limits, bodies } = this.#context;
      let body: ReadBody | undefined;
      try {
        body = await readBody(request, limits.bodySize, bodies);
        if (this.#isLeaving) throw new GatewayError('leaving', 'The gateway is being stopped.');
        const isStream = wantsStream(route.url, body.bytes as Buffer);
        const sampling = { ...asked.sampling, spooled: body.leave };
        const holding = { ...exchange, asked: { ...asked, sampling } };
        if (asked.isAsync && !isStream) return await this.#askLater(holding, body);
        return await this.#hold(holding, body, isStream, scope.calls);
      } finally {
        body?.leave();
        leave();
      }
    } finally {
      giveBack();
    }
  }

  /** The client holds its connection until the answer is there. */
  async #hold(
    exchange: Exchange,
    held: ReadBody,
    isStream: boolean,
    calls: ScopeCalls,
  ): Promise<void> {
    const { request, response, route, asked } = exchange;
    const status = deferred<number | undefined>();
    const raw = rawRequest(exchange, held, () => status.promise);
    const taken = () => {
      held.bytes = undefined;
    };
    const client = new AbortController();
    const told = deferred<'leaving'>();
    const tell = () => told.resolve('leaving');
    const isOld = request.httpVersion !== '1.1';
    const waiting = new WaitingResponse(response, {
      heartbeat: isOld ? 'none' : (asked.heartbeat ?? heartbeatKind(request.headers['user-agent'])),
      isStream,
      namesEvents: route.place.registered.info.namesStreamEvents === true,
    });
    const closed = () => {
      if (response.writableEnded || client.signal.aborted) return;
      this.#context.counts.gaveUp += 1;
      // This counts as the client's own deadline: the request stays, and the client may come back for it.
      client.abort('timeout');
    };
    // The response has no connection while another one is in front of it.
    request.socket.once('close', closed);
    this.#context.heartbeats.add(waiting);
    this.#waiting.add(tell);
    const { info } = route.place.registered;
    const isOver = await this.#identical.enter(raw, info, asked.sampling.again === true);
    try {
      if (request.socket.destroyed) return closed();
      const sampling = { ...asked.sampling, taken };
      const call = { ...rawCall(raw, client.signal), sampling };
      const answer = await Promise.race([calls.handle(call), told.promise]);
      this.#context.heartbeats.delete(waiting);
      if (answer === 'leaving') waiting.end(await leavingAnswer(route));
      else if (answer) waiting.end(answer);
      else {
        invariant(held.bytes, 'A call whose body was let go goes out');
        await this.#passOn(exchange, held.bytes, { answered: status.resolve, waiting });
      }
    } catch (error) {
      if (!response.destroyed) throw error;
    } finally {
      this.#context.heartbeats.delete(waiting);
      this.#waiting.delete(tell);
      isOver();
      request.socket.off('close', closed);
      status.resolve(undefined);
    }
  }

  async #askLater(exchange: Exchange, held: ReadBody): Promise<void> {
    const { request, response, route, asked } = exchange;
    const raw = rawRequest(exchange, held, async () => undefined);
    const asking = await this.#async.ask({ route, raw, asked, from: request });
    if ('id' in asking) {
      if (request.socket.destroyed) asking.giveUp();
      sendWaiting(response, asking.id);
    } else if (asking.answer) sendAnswer(response, asking.answer);
    else await this.#passOn(exchange, held.bytes);
  }

  async #passOn(
    { request, response, route, headers }: Exchange,
    body?: Buffer,
    { answered, waiting }: PassedOn = {},
  ): Promise<void> {
    const { counts, passThrough, passedCosts } = this.#context;
    counts.passedThrough += 1;
    const watch = (answer: Dispatcher.ResponseData) =>
      passedCosts.watch(request.method, answer, route);
    const call = { url: route.url, headers, body, waiting, watch };
    await passThrough.send(request, response, call, answered);
  }
}

/** Clients that wait while the gateway leaves should come back: their requests stay. */
async function leavingAnswer({ place }: Route): Promise<RawAnswer> {
  const message =
    'The gateway is being stopped. The request stays in the ledger: ask again for its answer.';
  const answer = await new GatewayError('leaving', message).answer(place.registered);
  return { ...answer, headers: { ...answer.headers, connection: 'close' } };
}

function uncounted(): GatewayError {
  const message =
    'This gateway has a budget, which does not count calls with the header x-batchling: off. Ask without it.';
  return new GatewayError('budget', message);
}

function rawRequest(
  { route, headers }: Exchange,
  held: ReadBody,
  answered: RawRequest['answered'],
): RawRequest {
  return {
    url: route.url,
    headers,
    get body() {
      return held.bytes as Buffer;
    },
    answered,
  };
}
