import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider whose answers come when the test says so. */
export interface HoldingServer {
  /** As an SDK is given it. */
  readonly baseUrl: string;
  /** Requests that wait for their answer, oldest first. */
  readonly held: ServerResponse[];
  /** The most that ever waited at once. */
  readonly most: number;
  /** All that ever came. */
  readonly seen: number;
  /** Breaks the connection of the oldest. */
  drop(): void;
  /** Answers the oldest. */
  answer(status?: number): void;
  close(): Promise<void>;
}

export async function startHoldingServer(): Promise<HoldingServer> {
  const held: ServerResponse[] = [];
  let most = 0;
  let seen = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().once('end', () => {
      held.push(response);
      seen += 1;
      most = Math.max(most, held.length);
    });
    response.once('close', () => {
      const at = held.indexOf(response);
      if (at >= 0) held.splice(at, 1);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    held,
    get most() {
      return most;
    },
    get seen() {
      return seen;
    },
    drop() {
      held.shift()?.destroy();
    },
    answer(status = 200) {
      const head = { 'content-type': 'application/json' };
      held.shift()?.writeHead(status, head).end('{"object":"chat.completion"}');
    },
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
