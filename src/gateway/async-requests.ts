import type { IncomingMessage } from 'node:http';
import { deferred } from '../concurrency/deferred.ts';
import type { RawAnswer } from '../hooks/border.ts';
import { type RawRequest, rawCall } from '../hooks/raw-call.ts';
import { answerHeaders } from '../orchestrator/answer/answer-headers.ts';
import { itemId } from '../orchestrator/model/request.ts';
import type { KeptRequest, Sampling } from '../orchestrator/model/sampling.ts';
import { enterWaiting, type GatewayContext } from './gateway-context.ts';
import { GatewayError } from './gateway-error.ts';
import { accountOf, keptHeaders, type RequestFacts, requestId } from './request/request-id.ts';
import type { RequestOptions } from './request/request-options.ts';
import { type Route, withoutCredentials } from './request/routes.ts';

/** The gateway remembers so many ended requests: good answers are in the ledger, but errors are not. */
const mostEnded = 10_000;
/** Their answers may have so many characters in all. */
const mostEndedSize = 64 * 1024 * 1024;
/** An id holds the facts of its request, and many clients take no headers beyond 8 KB. */
const longestFacts = 3_000;

/** The state of a request that nobody holds a connection for. */
type Standing =
  // A client that asks again before it has the id adds a controller.
  | { readonly is: 'waiting'; readonly controllers: Set<AbortController> }
  | { readonly is: 'answered'; readonly answer: RawAnswer }
  | { readonly is: 'refused'; readonly error: GatewayError };

/** A request that is in the ledger. */
interface Kept {
  readonly id: string;
  /** The client has gone before it was told the id: it may come back with the same call. */
  giveUp(): void;
}

/** A call that is to be asked, and by whom. */
export interface AsyncCall {
  readonly route: Route;
  readonly raw: RawRequest;
  readonly asked: Pick<RequestOptions, 'options' | 'key' | 'sampling'>;
  readonly from: IncomingMessage;
}

/** Requests of clients that hold no connection: they ask for the answer later. */
export class AsyncRequests {
  readonly #context: GatewayContext;
  /** The key is fingerprint and occurrence: ids of one request may differ. */
  readonly #standings = new Map<string, Standing>();
  readonly #ended = new Set<string>();
  #endedSize = 0;

  constructor(context: GatewayContext) {
    this.#context = context;
  }

  /** Asks. The id comes once the request and its body are in the ledger; or its answer, if that is first. */
  async ask(call: AsyncCall): Promise<Kept | { readonly answer?: RawAnswer }> {
    assertShort(call);
    const kept = deferred<KeptRequest>();
    const { sampling } = call.asked;
    // A client that did not get the id asks again, and no closed connection tells of it: it is the same request.
    const again = sampling.again === true || sampling.run === undefined;
    const started = this.#start(call, { ...sampling, again, kept: kept.resolve });
    const first = await Promise.race([
      kept.promise.then((request) => ({ request })),
      started.answer.then((answer) => ({ answer })),
    ]);
    if (!('request' in first)) return first.answer ? { answer: first.answer } : {};
    const { request } = first;
    if (request.parts > 1) {
      started.controller.abort();
      const message =
        'This call asks for more than one request holds: ask it without respond-async.';
      throw new GatewayError('bad_request', message);
    }
    const facts = factsOf(call, request);
    this.#follow(nameOf(facts), started);
    const { salt } = this.#context.engine.reader;
    const account = accountOf(salt, call.route.place, call.raw.headers, new URL(call.route.url));
    const giveUp = () => started.controller.abort('timeout');
    return { id: requestId(salt, account, facts), giveUp };
  }

  /** The answer; `undefined`: it is waited for. */
  async look(
    facts: RequestFacts,
    revive: () => Promise<AsyncCall>,
  ): Promise<RawAnswer | undefined> {
    const name = nameOf(facts);
    const standing = this.#standings.get(name);
    if (standing?.is === 'waiting') return undefined;
    if (standing?.is === 'answered') return standing.answer;
    if (standing?.is === 'refused') throw standing.error;
    const stored = await this.#stored(facts);
    if (stored) return stored;
    try {
      await this.#revive(facts, revive);
      return undefined;
    } catch (error) {
      // It may have been answered meanwhile, by another gateway.
      const late = await this.#stored(facts);
      if (late) return late;
      throw error;
    }
  }

  /** Ends the request: it is not sent any more; one that was sent stays in its batch. */
  async cancel(facts: RequestFacts, revive: () => Promise<AsyncCall>): Promise<void> {
    const name = nameOf(facts);
    if (!this.#standings.has(name) && !(await this.#stored(facts))) {
      await this.#revive(facts, revive);
    }
    const standing = this.#standings.get(name);
    if (standing?.is === 'waiting') {
      for (const controller of standing.controllers) controller.abort();
    }
    this.#end(name, cancelled());
  }

  /** Goes on with a request that no process works on, with the credential that has come to ask for it. */
  async #revive(facts: RequestFacts, revive: () => Promise<AsyncCall>): Promise<void> {
    const name = nameOf(facts);
    const call = await revive();
    // Another look may have been faster.
    if (this.#standings.has(name)) return;
    const { run, fresh = false, occurrence } = facts;
    const expected = Buffer.from(facts.fingerprint, 'hex');
    const started = this.#start(call, { run, fresh, occurrence, expected });
    this.#follow(name, started);
  }

  #start({ raw, asked, from }: AsyncCall, sampling: Sampling) {
    const lent = this.#context.scopes.lend(asked.key, asked.options);
    try {
      const client = enterWaiting(this.#context, from);
      const controller = new AbortController();
      const call = { ...rawCall(raw, controller.signal), sampling };
      const ask = async () => lent.scope.calls.handle(call);
      const answer = ask().finally(() => {
        this.#context.waiting.leave(client);
        lent.giveBack();
      });
      return { controller, answer };
    } catch (error) {
      lent.giveBack();
      throw error;
    }
  }

  #follow(
    name: string,
    { controller, answer }: { controller: AbortController; answer: Promise<RawAnswer | undefined> },
  ): void {
    const before = this.#standings.get(name);
    if (before?.is === 'waiting') before.controllers.add(controller);
    else {
      this.#forget(name);
      this.#standings.set(name, { is: 'waiting', controllers: new Set([controller]) });
    }
    answer.then(
      (given) => this.#end(name, given ? { is: 'answered', answer: given } : notBatched()),
      () => this.#end(name, cancelled()),
    );
  }

  #end(name: string, standing: Standing): void {
    if (this.#standings.get(name)?.is === 'refused') return;
    this.#forget(name);
    this.#standings.set(name, standing);
    this.#ended.add(name);
    this.#endedSize += sizeOf(standing);
    for (const oldest of this.#ended) {
      if (this.#ended.size <= mostEnded && this.#endedSize <= mostEndedSize) return;
      this.#forget(oldest);
    }
  }

  #forget(name: string): void {
    if (this.#ended.delete(name)) this.#endedSize -= sizeOf(this.#standings.get(name));
    this.#standings.delete(name);
  }

  async #stored({ fingerprint, occurrence }: RequestFacts): Promise<RawAnswer | undefined> {
    const bytes = Buffer.from(fingerprint, 'hex');
    const answer = await this.#context.engine.storedAnswer(bytes, occurrence);
    if (answer === undefined) return undefined;
    const id = itemId(bytes, occurrence);
    const headers = answerHeaders({ answer, source: 'ledger', itemId: id });
    return { status: answer.status, headers, body: answer.body };
  }
}

function factsOf({ route, raw, asked }: AsyncCall, kept: KeptRequest): RequestFacts {
  const { info } = route.place.registered;
  const url = new URL(withoutCredentials(route).url);
  const { run, fresh } = asked.sampling;
  return {
    provider: info.name,
    target: `${url.pathname}${url.search}`,
    headers: keptHeaders(raw.headers, info),
    options: asked.key,
    ...(run !== undefined && { run }),
    ...(fresh && { fresh }),
    row: kept.row,
    fingerprint: kept.fingerprint.toString('hex'),
    occurrence: kept.occurrence,
  };
}

function sizeOf(standing: Standing | undefined): number {
  return standing?.is === 'answered' ? standing.answer.body.length : 0;
}

/** An id that no client can read would be an answer that nobody can get. */
function assertShort({ route, raw, asked }: AsyncCall): void {
  const kept = keptHeaders(raw.headers, route.place.registered.info);
  const length = JSON.stringify([kept, asked.key, route.url]).length;
  if (length <= longestFacts) return;
  const message =
    'Headers and path are too long for the id of a request: ask without respond-async, or with fewer headers.';
  throw new GatewayError('headers_too_large', message);
}

function cancelled(): Standing {
  return { is: 'refused', error: new GatewayError('cancelled', 'The request was cancelled.') };
}

function notBatched(): Standing {
  const message = 'The request cannot be batched. Ask it without respond-async.';
  return { is: 'refused', error: new GatewayError('not_supported', message) };
}

function nameOf({ fingerprint, occurrence }: RequestFacts): string {
  return `${fingerprint}-${occurrence}`;
}
