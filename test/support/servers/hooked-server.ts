import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach } from 'vitest';
import { hookNodeHttp } from '../../../src/hooks/node-http/node-http.ts';

/** For each test: the hook in place, and a server that keeps what really reaches it. */
export interface HookedServer {
  url: string;
  seen: string[];
  undo(): void;
}

export function useHookedServer(): HookedServer {
  const state: HookedServer = { url: '', seen: [], undo: () => undefined };
  let server: Server;
  beforeEach(async () => {
    state.seen = [];
    // With the usual five seconds, a client on a busy machine would meet a connection that is closed.
    server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
      state.seen.push(`${request.method} ${request.url}`);
      request.resume().once('end', () => response.end('real'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    state.url = `http://127.0.0.1:${(server.address() as { port: number }).port}/v1/chat`;
    state.undo = hookNodeHttp();
  });
  afterEach(() => {
    state.undo();
    server.close().closeAllConnections();
  });
  return state;
}
