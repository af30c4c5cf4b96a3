import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { checkToken } from '../gateway/admission/access.ts';
import { GatewayError } from '../gateway/gateway-error.ts';
import type { LedgerReader } from '../ledger/view.ts';
import { readBatch, readBatches, readMembers, requireBatch } from './api/batches.ts';
import { readFailures } from './api/failures.ts';
import { LiveAnswers } from './api/live-answers.ts';
import { readMoney } from './api/money.ts';
import { readNow } from './api/now.ts';
import { readRequest } from './api/request.ts';
import { search } from './api/search.ts';
import type { DoneJson, InfoJson } from './api-types.ts';
import { pageFile, pageHeaders } from './page-files.ts';

export interface PageOptions {
  /** What whoever reads the ledger must send; the files of the page hold no data, and need none. */
  readonly token: string;
  /** Where the ledger is, for people. */
  readonly store: string;
  readonly now: () => number;
  /** The ledger that is there now. A text: why there is none. */
  readonly ledger: () => Promise<LedgerReader | string>;
  /** What may be changed; missing: nothing. */
  readonly actions?: PageActions;
}

export interface PageActions {
  cancel(id: string): Promise<DoneJson>;
  collect(): Promise<DoneJson>;
}

/** How long one request may look through texts. */
const searchPatience = 1_000;

/** The page on a ledger, and what it asks of its server. Who serves it has looked at `Host` and `Origin` before. */
export class Page {
  readonly #options: PageOptions;
  readonly #live = new LiveAnswers();
  /** What was shown last, and since when: another ledger may have the same version. */
  #ledger: LedgerReader | undefined;
  #since = 0;

  constructor(options: PageOptions) {
    this.#options = options;
  }

  /** `name`: the path below that of the page, without a slash at its beginning. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    name: string,
    query: URLSearchParams,
  ): Promise<void> {
    if (name.startsWith('api/')) {
      checkToken(this.#options.token, request.headers, false);
      await this.#answerJson(request, response, name.slice('api/'.length), query);
      return;
    }
    requireMethod(request, 'GET', 'HEAD');
    const file = await pageFile(name);
    if (file === undefined) throw new GatewayError('not_found', 'The page has no such file.');
    const headers = { ...pageHeaders, 'content-type': file.type, 'cache-control': 'no-cache' };
    response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : file.body);
  }

  async #answerJson(
    request: IncomingMessage,
    response: ServerResponse,
    name: string,
    query: URLSearchParams,
  ): Promise<void> {
    const json = await this.#jsonFor(request, name.split('/').map(unescaped), query);
    const type = { 'content-type': 'application/json', 'cache-control': 'no-store' };
    response.writeHead(200, { ...pageHeaders, ...type }).end(JSON.stringify(json));
  }

  async #jsonFor(request: IncomingMessage, path: string[], query: URLSearchParams) {
    const [what, id = '', part] = path;
    const isCollect = what === 'collect' && path.length === 1;
    const isCancel = what === 'batches' && part === 'cancel' && path.length === 3;
    requireMethod(request, isCollect || isCancel ? 'POST' : 'GET');
    if (isCollect) return this.#act((actions) => actions.collect());
    if (isCancel) {
      return this.#act(async (actions, ledger) => {
        const { token } = await requireBatch(ledger, id);
        return actions.cancel(token);
      });
    }
    const ledger = await this.#options.ledger();
    if (what === 'info') return this.#info(typeof ledger === 'string' ? ledger : undefined);
    // Whoever waits for a ledger looks again each time.
    if (typeof ledger === 'string' && what === 'changed') return { version: -performance.now() };
    if (typeof ledger === 'string') throw new GatewayError('not_found', ledger);
    if (ledger !== this.#ledger) {
      this.#live.forget();
      this.#ledger = ledger;
      this.#since = performance.now();
    }
    return this.#read(ledger, path, query);
  }

  async #act(act: (actions: PageActions, ledger: LedgerReader) => Promise<DoneJson>) {
    const { actions } = this.#options;
    if (actions === undefined) {
      const message = 'This page only reads. Start it with --write to cancel and collect.';
      throw new GatewayError('wrong_method', message);
    }
    const ledger = await this.#options.ledger();
    if (typeof ledger === 'string') throw new GatewayError('not_found', ledger);
    try {
      return await act(actions, ledger);
    } finally {
      this.#live.forget();
    }
  }

  #info(missing: string | undefined): InfoJson {
    const { store, actions } = this.#options;
    return { version, store, canWrite: actions !== undefined, ...(missing && { missing }) };
  }

  async #read(
    ledger: LedgerReader,
    path: readonly string[],
    query: URLSearchParams,
  ): Promise<unknown> {
    const [what, id, part] = path;
    const at = this.#options.now();
    const live = async <T>(make: () => Promise<T>) =>
      this.#live.get(`${what} ${query}`, await ledger.view.changed(), make);
    if (id === undefined) {
      switch (what) {
        case 'changed':
          return { version: this.#since + (await ledger.view.changed()) };
        case 'now':
          return live(() => readNow(ledger, at));
        case 'failures':
          return live(() => readFailures(ledger, at));
        case 'money':
          return live(() => readMoney(ledger, query, at));
        case 'models':
          return live(() => ledger.view.models());
        case 'search':
          return search(ledger, query, searchPatience);
        case 'batches':
          return readBatches(ledger, query, at);
      }
    } else if (what === 'batches' && part === undefined) {
      return readBatch(ledger, id, at);
    } else if (what === 'batches' && part === 'members' && path.length === 3) {
      return readMembers(ledger, id, query);
    } else if (what === 'requests' && part === undefined) {
      return readRequest(ledger, id);
    }
    throw new GatewayError('not_found', 'The page asks for nothing of this name.');
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new GatewayError('bad_path', 'The path holds an escape that is no character.');
  }
}

function requireMethod({ method = '' }: IncomingMessage, ...allowed: readonly string[]): void {
  if (allowed.includes(method)) return;
  throw new GatewayError('wrong_method', `This can be asked for by ${allowed.join(' or ')} only.`);
}

/** An error as an answer of the page. */
export async function sendPageError(response: ServerResponse, error: unknown): Promise<void> {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const known =
    error instanceof GatewayError
      ? error
      : new GatewayError('failed', `The page could not be made: ${messageOf(error)}`);
  const { status, headers, body } = await known.answer(undefined);
  response.writeHead(status, { ...pageHeaders, ...headers, 'cache-control': 'no-store' }).end(body);
}
