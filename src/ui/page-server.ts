import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isThisMachine } from '../base/this-machine.ts';
import { type AcceptedHost, assertOwnSite } from '../gateway/admission/own-site.ts';
import { listen, urlOf } from '../gateway/listen.ts';
import { cleanPath } from '../gateway/request/clean-path.ts';
import { Page, type PageOptions, sendPageError } from './page.ts';

export interface PageServerOptions extends PageOptions {
  readonly port: number;
  readonly host: string;
}

/** The page of `batchling ui`: a server of its own. */
export class PageServer {
  readonly #server: Server;
  readonly #page: Page;
  readonly #accepted: AcceptedHost;

  static async start(options: PageServerOptions): Promise<PageServer> {
    const server = new PageServer(options);
    await listen(server.#server, options);
    return server;
  }

  private constructor(options: PageServerOptions) {
    this.#page = new Page(options);
    // A server in front may have any name. No other name leads to this machine's own addresses.
    this.#accepted = isThisMachine(options.host) ? 'loopback' : 'any';
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch((error) => sendPageError(response, error));
    });
  }

  /** Where it listens, with a slash at the end. */
  get url(): string {
    return `${urlOf(this.#server)}/`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Nothing that is asked here has a body worth reading.
    request.resume();
    const { path, query } = cleanPath(request.url ?? '');
    assertOwnSite(request.headers, this.#accepted, path === '/');
    await this.#page.answer(request, response, path.slice(1), new URLSearchParams(query));
  }
}
