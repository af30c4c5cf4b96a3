import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { NotSentError, UnknownOutcomeError } from '../base/errors.ts';
import { createHttpClient, type HttpClientOptions } from './client.ts';
import type { StreamedBody, Wire, WireRequest } from './wire.ts';

const clock = { now: Date.now, setTimeout, clearTimeout: () => {} };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Nothing is idle for too long before the test says so, however busy the machine is. */
function holdTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
}

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const tcp = (onSocket: (socket: Socket) => void) => listen(createTcpServer(onSocket));
const http = (onRequest: RequestListener) => listen(createServer(onRequest));

function wireTo(port: number, options: Partial<HttpClientOptions> = {}, scheme = 'http'): Wire {
  const client = createHttpClient({ clock, ...options });
  cleanups.push(() => client.close());
  const base = `${scheme}://127.0.0.1:${port}`;
  return client.wire({ base, origins: [base], credentials: () => ({}) });
}

function post(body: WireRequest['body'] = 'x'): WireRequest {
  return { method: 'POST', path: '/', ...(body !== undefined && { body }) };
}

const get: WireRequest = { method: 'GET', path: '/' };

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  );
}

function streamed(length: number, chunks: StreamedBody['chunks']): StreamedBody {
  return { length, chunks };
}

/** Answers what comes in full, and tells whether anything had when its connection is closed. */
async function observer() {
  let complete = false;
  const server = createServer((request, response) => {
    request.on('error', () => {});
    request.on('end', () => {
      complete = true;
      response.end('ok');
    });
    request.resume();
  });
  const closed = new Promise<boolean>((resolve) => {
    server.on('connection', (socket) => socket.on('close', () => resolve(complete)));
  });
  return { port: await listen(server), complete: closed };
}

describe('a request that was not sent', () => {
  it('is one whose connection is refused, whatever its method', async () => {
    const port = await http(() => {});
    await cleanups.pop()?.();
    for (const request of [post(), get, { method: 'DELETE', path: '/' } as const]) {
      const error = await failureOf(wireTo(port).send(request));
      expect(error).toBeInstanceOf(NotSentError);
      expect(error).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    }
  });

  it('is one whose host has no address', async () => {
    const client = createHttpClient({ clock });
    cleanups.push(() => client.close());
    // A label of 64 characters cannot exist: no name server is asked.
    const base = `http://${'a'.repeat(64)}.invalid`;
    const wire = client.wire({ base, origins: [base], credentials: () => ({}) });
    expect(await failureOf(wire.send(get))).toBeInstanceOf(NotSentError);
  });

  it('is one whose TLS handshake fails', async () => {
    const port = await tcp((socket) => socket.end('this is not TLS\r\n'));
    expect(await failureOf(wireTo(port, {}, 'https').send(post()))).toBeInstanceOf(NotSentError);
    expect(await failureOf(wireTo(port, {}, 'https').send(get))).toBeInstanceOf(NotSentError);
  });

  it('is one whose connection does not come about in time', async () => {
    const port = await tcp(() => {});
    const error = await failureOf(wireTo(port, { idleTimeout: 50 }, 'https').send(get));
    expect(error).toBeInstanceOf(NotSentError);
    expect(error).toMatchObject({ message: expect.stringContaining('no progress for 50 ms') });
  });

  it('is one that was reset in the middle of its body', async () => {
    const port = await tcp((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const error = await failureOf(wireTo(port).send(post(Buffer.alloc(30_000_000))));
    expect(error).toBeInstanceOf(NotSentError);
  });

  it('is one whose body the server stops to take', async () => {
    const port = await tcp((socket) => socket.pause());
    const wire = wireTo(port, { idleTimeout: 100 });
    expect(await failureOf(wire.send(post(Buffer.alloc(30_000_000))))).toBeInstanceOf(NotSentError);
  });

  it('is one whose body stops to come from its source', async () => {
    const { port, complete } = await observer();
    holdTime();
    const body = streamed(2, async function* () {
      yield Buffer.from('a');
      vi.advanceTimersByTime(50);
      await new Promise(() => {});
    });
    const error = await failureOf(wireTo(port, { idleTimeout: 50 }).send(post(body)));
    expect(error).toBeInstanceOf(NotSentError);
    expect(await complete).toBe(false);
  });

  it('is one whose body breaks in our hands, and the server sees that it is incomplete', async () => {
    const { port, complete } = await observer();
    const broken = new Error('disk gone');
    const body = streamed(100_000, function* () {
      yield Buffer.alloc(30_000);
      yield Buffer.alloc(30_000);
      throw broken;
    });
    const error = await failureOf(wireTo(port).send(post(body)));
    expect(error).toBeInstanceOf(NotSentError);
    expect(error).toMatchObject({ cause: broken });
    expect(await complete).toBe(false);
  });

  it.each([
    ['longer', 59_999],
    ['shorter', 60_001],
  ])('is one whose body is %s than announced', async (word, length) => {
    const { port, complete } = await observer();
    const body = streamed(length, () => [Buffer.alloc(30_000), Buffer.alloc(30_000)]);
    const error = await failureOf(wireTo(port).send(post(body)));
    expect(error).toBeInstanceOf(NotSentError);
    expect((error as Error).message).toMatch(word === 'longer' ? /longer than/ : /ended after/);
    expect(await complete).toBe(false);
  });

  it('is one with bytes after an announced end that was already reached', async () => {
    const { port, complete } = await observer();
    const body = streamed(30_000, () => [
      Buffer.alloc(15_000),
      Buffer.alloc(15_000),
      Buffer.alloc(1),
    ]);
    expect(await failureOf(wireTo(port).send(post(body)))).toBeInstanceOf(NotSentError);
    expect(await complete).toBe(false);
  });

  it('is one whose header cannot be written', async () => {
    const wire = wireTo(1);
    const error = await failureOf(wire.send({ ...get, headers: { 'x-key': 'hush\nhush' } }));
    expect(error).toBeInstanceOf(NotSentError);
    expect((error as Error).message).not.toContain('hush');
  });
});

describe('a request with an unknown outcome', () => {
  it.each([
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['closed', (socket: Socket) => socket.end()],
    ['answered with something that is not HTTP', (socket: Socket) => socket.end('hello\r\n\r\n')],
  ])('is one that is %s after its last byte', async (_what, then) => {
    const port = await tcp((socket) => socket.once('data', () => then(socket)));
    for (const request of [post(), get, post(undefined)]) {
      expect(await failureOf(wireTo(port).send(request))).toBeInstanceOf(UnknownOutcomeError);
    }
  });

  it('is one that nobody answers', async () => {
    holdTime();
    const port = await http((request) => {
      request.resume().once('end', () => setImmediate(() => vi.advanceTimersByTime(50)));
    });
    for (const request of [post(), get, post(streamed(3, () => [Buffer.from('abc')]))]) {
      const error = await failureOf(wireTo(port, { idleTimeout: 50 }).send(request));
      expect(error).toBeInstanceOf(UnknownOutcomeError);
      expect(error).toMatchObject({ facts: { method: request.method } });
    }
  });

  it('is one that meets a kept connection which the server closes at that moment', async () => {
    let requests = 0;
    const port = await tcp((socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
        else socket.resetAndDestroy();
      });
    });
    const wire = wireTo(port);
    await (await wire.send(post())).discard();
    expect(await failureOf(wire.send(post()))).toBeInstanceOf(UnknownOutcomeError);
    expect(requests).toBe(2);
  });

  it('is one under way when the client is closed', async () => {
    const arrivals = new EventEmitter();
    const arrived = once(arrivals, 'request');
    const port = await http(() => void arrivals.emit('request'));
    const client = createHttpClient({ clock });
    const base = `http://127.0.0.1:${port}`;
    const wire = client.wire({ base, origins: [base], credentials: () => ({}) });
    const failure = failureOf(wire.send(post()));
    await arrived;
    await client.close();
    expect(await failure).toBeInstanceOf(UnknownOutcomeError);
    expect(await failureOf(wire.send(post()))).toBeInstanceOf(NotSentError);
  });
});
