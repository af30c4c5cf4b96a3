import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Agent } from 'undici';
import { createHttpClient, type HttpClientOptions, type WireOptions } from './client.ts';
import type { Wire } from './wire.ts';

export const clock = { now: () => 42, setTimeout, clearTimeout: () => {} };
export const key = 'sk-very-secret-key';
export const cleanups: (() => unknown)[] = [];

/** For `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers with `reply`, and keeps what it saw. */
export async function serve(
  reply: { status?: number; headers?: Record<string, string>; body?: string } = {},
) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? '{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, seen };
}

export function wireTo(
  base: string,
  wireOptions: Partial<WireOptions> = {},
  options: Partial<HttpClientOptions> = {},
): Wire {
  const client = createHttpClient({ clock, ...options });
  cleanups.push(() => client.close());
  return client.wire({
    base,
    origins: [new URL(base).origin],
    credentials: () => ({ headers: { Authorization: `Bearer ${key}` } }),
    ...wireOptions,
  });
}

/** Leads every origin, https too, to one loopback port: a signed URL needs no certificate then. */
export function leadingTo(port: number): Agent {
  const agent = new Agent({
    connect: (_options, callback) => {
      const socket = connect(port, '127.0.0.1', () => callback(null, socket));
      socket.on('error', (error) => callback(error, null));
    },
  });
  cleanups.push(() => agent.destroy());
  return agent;
}

export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}
