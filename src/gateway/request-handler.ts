import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AsyncCall, AsyncRequests } from './async-requests.ts';
import { type GatewayContext, ownCredential } from './gateway-context.ts';
import { GatewayError } from './gateway-error.ts';
import { forwardedHeaders } from './pass-through/forwarded-headers.ts';
import type { CleanPath } from './request/clean-path.ts';
import {
  accountOf,
  isIdOf,
  type RequestFacts,
  readRequestId,
  secretHeaders,
} from './request/request-id.ts';
import { readOptions } from './request/request-options.ts';
import type { Place } from './request/routes.ts';
import { sendAnswer, sendWaiting } from './send-answer.ts';

/** Answers `/requests/<id>`. */
export class RequestHandler {
  readonly #context: GatewayContext;
  readonly #async: AsyncRequests;

  constructor(context: GatewayContext, async: AsyncRequests) {
    this.#context = context;
    this.#async = async;
  }

  async handle(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query }: CleanPath,
  ): Promise<void> {
    const id = path.slice('/requests/'.length);
    const facts = readRequestId(id);
    const place = facts && this.#context.routes.place(facts.provider);
    if (!facts || !place) throw unknownRequest();
    const { info } = place.registered;
    const headers = forwardedHeaders(
      request.headers,
      info,
      ownCredential(this.#context, info.name),
    );
    const { salt } = this.#context.engine.reader;
    const account = accountOf(salt, place, headers, new URL(`http://here/${query}`));
    // Another credential gets the same answer as for a request that does not exist.
    if (!isIdOf(salt, account, id)) throw unknownRequest();
    const revive = () => this.#revive(facts, place, headers, query, request);
    if (request.method === 'DELETE') {
      await this.#async.cancel(facts, revive);
      response.writeHead(204).end();
      return;
    }
    if (request.method !== 'GET') {
      throw new GatewayError(
        'wrong_method',
        'A request can be asked for by GET or ended by DELETE.',
      );
    }
    const answer = await this.#async.look(facts, revive);
    if (answer) sendAnswer(response, answer);
    else sendWaiting(response, this.#context.root, id);
  }

  /** The call as its client made it, with the credential of this request. */
  async #revive(
    facts: RequestFacts,
    place: Place,
    headers: Readonly<Record<string, string>>,
    query: string,
    from: IncomingMessage,
  ): Promise<AsyncCall> {
    const { reader } = this.#context.engine;
    const body = (await reader.bodies([facts.row])).get(facts.row);
    if (body === undefined) {
      throw new GatewayError('gone', 'The request has ended, and its answer is not kept any more.');
    }
    const { info } = place.registered;
    const url = new URL(facts.target, place.origin);
    const given = new URLSearchParams(query);
    for (const name of info.credentialQuery ?? []) {
      const value = given.get(name);
      if (value !== null) url.searchParams.set(name, value);
    }
    const route = { place, url: url.href };
    const raw = {
      method: 'POST',
      url: url.href,
      headers: { ...facts.headers, ...secretHeaders(headers, info) },
      body: Buffer.from(body),
      answered: async () => undefined,
    };
    const sampling = { run: facts.run, fresh: facts.fresh ?? false };
    return { route, raw, asked: { ...readOptions(facts.options), sampling }, from };
  }
}

function unknownRequest(): GatewayError {
  return new GatewayError('not_found', 'There is no such request for this credential.');
}
