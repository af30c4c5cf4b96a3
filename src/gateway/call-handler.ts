import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { invariant } from '../base/errors.ts';
import type { RawAnswer } from '../hooks/border.ts';
import type { ScopeCalls } from '../scope/calls/scope-calls.ts';
import { type ReadBody, readBody } from './admission/read-request-body.ts';
import type { AsyncRequests } from './async-requests.ts';
import { enterWaiting, type GatewayContext, ownCredential } from './gateway-context.ts';
import { GatewayError } from './gateway-error.ts';
import type { LentScope } from './gateway-scopes.ts';
import { type Exchange, HeldCall } from './held-call.ts';
import { type ClientHeaders, HeaderReader } from './pass-through/client-headers.ts';
import { IdenticalCalls, nameOfCall } from './request/identical-calls.ts';
import { type Route, withoutCredentials } from './request/routes.ts';
import { wantsStream } from './request/wants-stream.ts';
import { sendAnswer, sendWaiting } from './send-answer.ts';
import { type HeartbeatKind, heartbeatKind, WaitingResponse } from './waiting/waiting-response.ts';

/** The state of a call that was to be batched, and is passed on. */
interface PassedOn {
  readonly held?: HeldCall;
  readonly waiting?: WaitingResponse;
}

/** Answers the calls of clients to their providers: by a batch, or passed through. */
export class CallHandler {
  readonly #context: GatewayContext;
  readonly #async: AsyncRequests;
  readonly #headers = new HeaderReader();
  readonly #identical: IdenticalCalls;
  /** Calls whose clients wait. */
  readonly #held = new Set<HeldCall>();
  #isLeaving = false;

  constructor(context: GatewayContext, async: AsyncRequests) {
    this.#context = context;
    this.#async = async;
    this.#identical = new IdenticalCalls(context.clock);
  }

  /** Tells clients that wait to come back, and those whose requests are still arriving. */
  leave(): void {
    this.#isLeaving = true;
    for (const held of this.#held) held.leave();
  }

  handle(request: IncomingMessage, response: ServerResponse, found: Route): Promise<void> {
    const { info } = found.place.registered;
    const own = ownCredential(this.#context, info.name);
    const route = own ? withoutCredentials(found) : found;
    const headers = this.#headers.read(request, info, own);
    const exchange = { request, response, route, headers };
    if (request.method !== 'POST') return this.#passOn(exchange);
    const { key, options } = headers.asked;
    return this.#ask(exchange, this.#context.scopes.lend(key, options));
  }

  async #ask(exchange: Exchange, lent: LentScope): Promise<void> {
    const { request, route, headers } = exchange;
    const { asked, forwarded } = headers;
    const { limits, bodies, hasBudget } = this.#context;
    const { calls } = lent.scope;
    let client: string | undefined;
    let body: ReadBody | undefined;
    try {
      if (!calls.mayCapture(route.url, forwarded['content-type'])) {
        return await this.#passOn(exchange);
      }
      if (asked.isOff) {
        if (hasBudget) throw uncounted();
        return await this.#passOn(exchange);
      }
      client = enterWaiting(this.#context, request);
      body = await readBody(request, limits.bodySize, bodies);
      if (this.#isLeaving) throw new GatewayError('leaving', 'The gateway is being stopped.');
      const isStream = wantsStream(route.url, body.bytes as Buffer);
      if (asked.isAsync && !isStream) return await this.#askLater(exchange, body);
      await this.#hold(exchange, body, isStream, calls);
    } finally {
      body?.share.leave();
      if (client !== undefined) this.#context.waiting.leave(client);
      lent.giveBack();
    }
  }

  /** The client holds its connection until the answer is there. */
  async #hold(
    exchange: Exchange,
    body: ReadBody,
    isStream: boolean,
    calls: ScopeCalls,
  ): Promise<void> {
    const { request, response, route, headers } = exchange;
    const { heartbeats, counts, lost } = this.#context;
    const { info } = route.place.registered;
    const held = new HeldCall(exchange, body);
    const waiting = new WaitingResponse(response, {
      heartbeat: heartbeatOf(exchange),
      isStream,
      namesEvents: info.namesStreamEvents === true,
    });
    const closed = () => {
      // A client that is sent away has not given up: its call is one of those that are left to the next run.
      if (this.#isLeaving || response.writableEnded) return;
      if (!held.giveUp()) return;
      counts.gaveUp += 1;
      if (held.captured) lost?.add(held.captured);
    };
    // The response has no connection while another one is in front of it.
    request.socket.on('close', closed);
    heartbeats.add(waiting);
    this.#held.add(held);
    const name = nameOfCall(route.url, headers.forwarded, body.bytes as Buffer, info);
    try {
      await this.#identical.enter(name, asksAgain(headers));
      if (request.socket.destroyed) return closed();
      const answer = this.#isLeaving ? 'leaving' : await held.ask(calls);
      heartbeats.delete(waiting);
      if (answer === 'leaving') waiting.end(await leavingAnswer(route));
      else if (answer) waiting.end(answer);
      else {
        invariant(body.bytes, 'A call whose body was let go goes out');
        await this.#passOn(exchange, body.bytes, { held, waiting });
      }
    } catch (error) {
      if (!response.destroyed) throw error;
    } finally {
      heartbeats.delete(waiting);
      this.#held.delete(held);
      this.#identical.leave(name);
      request.socket.off('close', closed);
      held.passedOn(undefined);
    }
  }

  async #askLater(exchange: Exchange, body: ReadBody): Promise<void> {
    const { request, response, route, headers } = exchange;
    const raw = {
      url: route.url,
      headers: headers.forwarded,
      get body() {
        return body.bytes as Buffer;
      },
      answered: async () => undefined,
    };
    const sampling = { ...headers.asked.sampling, spooled: () => body.share.leave() };
    const asked = { ...headers.asked, sampling };
    const asking = await this.#async.ask({ route, raw, asked, from: request });
    if ('id' in asking) {
      if (request.socket.destroyed) asking.giveUp();
      sendWaiting(response, this.#context.root, asking.id);
    } else if (asking.answer) sendAnswer(response, asking.answer);
    else await this.#passOn(exchange, body.bytes);
  }

  async #passOn(
    { request, response, route, headers }: Exchange,
    body?: Buffer,
    { held, waiting }: PassedOn = {},
  ): Promise<void> {
    const { counts, passThrough, passedCosts } = this.#context;
    counts.passedThrough += 1;
    const watch = (answer: Dispatcher.ResponseData) =>
      passedCosts.watch(request.method, answer, route);
    const call = { url: route.url, headers: headers.forwarded, body, waiting, watch };
    await passThrough.send(request, response, call, (status) => held?.passedOn(status));
  }
}

function heartbeatOf({ request, headers }: Exchange): HeartbeatKind {
  if (request.httpVersion !== '1.1') return 'none';
  return headers.asked.heartbeat ?? heartbeatKind(request.headers['user-agent']);
}

/** The client says so, or names its call by a key. */
function asksAgain({ asked, forwarded }: ClientHeaders): boolean {
  return asked.sampling.again === true || forwarded['idempotency-key'] !== undefined;
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
