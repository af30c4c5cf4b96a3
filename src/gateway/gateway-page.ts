import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { shownStore } from '../base/store-address.ts';
import { Page } from '../ui/page.ts';
import type { GatewayContext } from './gateway-context.ts';
import type { CleanPath } from './request/clean-path.ts';

const place = '/ui';

/** The page of `batchling ui`, on the ledger of a gateway. It only reads. */
export class GatewayPage {
  /** Made up where the gateway has no token: questions and answers are not for every program of the machine. */
  readonly ownToken: string | undefined;
  readonly #page: Page;

  constructor({ token, engine, clock }: GatewayContext, store: string) {
    this.ownToken = token === undefined ? randomBytes(18).toString('base64url') : undefined;
    this.#page = new Page({
      token: token ?? (this.ownToken as string),
      store: shownStore(store),
      now: () => clock.now(),
      ledger: async () => engine.reader,
    });
  }

  /** Where links lead. */
  isAddress(path: string): boolean {
    return path === place || path === `${place}/`;
  }

  isPath(path: string): boolean {
    return path === place || path.startsWith(`${place}/`);
  }

  /** `Host` and `Origin` have been looked at. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    { path, query }: CleanPath,
  ): Promise<void> {
    request.resume();
    if (path === place) {
      // The page names its files by where it is itself.
      response.writeHead(308, { location: `ui/${query}` }).end();
      return;
    }
    const name = path.slice(place.length + 1);
    await this.#page.answer(request, response, name, new URLSearchParams(query));
  }
}
