import { EventEmitter, once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { UnknownOutcomeError } from '../base/errors.ts';
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
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
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

/** A TCP server that answers every complete POST or GET with these bytes, and then does `after`. */
function answering(bytes: string, after: (socket: Socket) => void = () => {}): Promise<number> {
  return tcp((socket) => {
    socket.on('data', (data) => {
      if (/\r\n\r\n$|x$/.test(data.toString())) socket.write(bytes, () => after(socket));
    });
  });
}

function wireTo(port: number, options: Partial<HttpClientOptions> = {}): Wire {
  const client = createHttpClient({ clock, ...options });
  cleanups.push(() => client.close());
  const base = `http://127.0.0.1:${port}`;
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

describe('a reply', () => {
  it.each([200, 204, 302, 401, 408, 429, 500, 503, 529])(
    'is whatever has a status: %d',
    async (status) => {
      const port = await http((_request, response) => void response.writeHead(status).end());
      const reply = await wireTo(port).send(post());
      expect(reply.status).toBe(status);
      expect(await reply.text()).toBe('');
    },
  );

  it('has every header once and all names in lower case', async () => {
    const port = await http((_request, response) => {
      response.setHeader('X-Mixed-Case', ['a', 'b']).end();
    });
    expect((await wireTo(port).send(get)).headers['x-mixed-case']).toBe('a, b');
  });

  it('is not lost when it comes before the body was taken', async () => {
    const port = await tcp((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig');
      });
    });
    const events = new EventEmitter();
    const closed = once(events, 'closed');
    const body = streamed(1e9, async function* () {
      try {
        for (;;) {
          yield Buffer.alloc(65_536);
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        events.emit('closed');
      }
    });
    const reply = await wireTo(port).send(post(body));
    expect([reply.status, await reply.text()]).toEqual([413, 'big']);
    await closed;
  });

  it('comes on a new connection when the server has closed the kept one', async () => {
    const closed = new EventEmitter();
    const port = await answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok', (socket) => {
      socket.once('close', () => closed.emit('by both sides')).end();
    });
    const wire = wireTo(port);
    const known = once(closed, 'by both sides');
    expect(await (await wire.send(post())).text()).toBe('ok');
    await known;
    expect(await (await wire.send(post())).text()).toBe('ok');
  });

  it('may take longer than the idle timeout as long as the upload moves', async () => {
    holdTime();
    let taken = 0;
    let passed = 0;
    const port = await http((request, response) => {
      // Slower than the buffers between us, which take some megabytes at once.
      request.on('data', (chunk: Buffer) => {
        taken += chunk.length;
        vi.advanceTimersByTime(Math.floor(taken / 100_000) - passed);
        passed = Math.floor(taken / 100_000);
      });
      request.on('end', () => response.end('ok'));
    });
    const reply = await wireTo(port, { idleTimeout: 250 }).send(post(Buffer.alloc(40_000_000)));
    expect(await reply.text()).toBe('ok');
    expect(passed).toBe(400);
  });
});

describe('the body of a reply', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

  it.each([
    ['cut short of its length', `${head}content-length: 100\r\n\r\n{"a":`],
    ['cut between two chunks', `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\n`],
    ['with a chunk that is none', `${head}transfer-encoding: chunked\r\n\r\n5\r\n{"a":\r\nzz\r\n`],
  ])('%s is an unknown outcome in every way to read it', async (_what, bytes) => {
    const port = await answering(bytes, (socket) => socket.end());
    for (const way of ['text', 'json', 'bytes'] as const) {
      const reply = await wireTo(port).send(post());
      expect(reply.status).toBe(200);
      const reading = way === 'bytes' ? readAll(reply.bytes()) : reply[way]();
      const error = await failureOf(reading);
      expect(error).toBeInstanceOf(UnknownOutcomeError);
      expect(error).toMatchObject({ facts: { status: 200 } });
    }
  });

  it('that breaks while nobody reads it harms nobody, and the late reader learns of it', async () => {
    const port = await answering(`${head}content-length: 100\r\n\r\n{"a":`, (socket) => {
      setImmediate(() => socket.resetAndDestroy());
    });
    const reply = await wireTo(port).send(get);
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(await failureOf(reply.text())).toBeInstanceOf(UnknownOutcomeError);
  });

  it('that stops to come is an unknown outcome', async () => {
    const port = await answering(`${head}content-length: 100\r\n\r\n{"a":`);
    holdTime();
    const reply = await wireTo(port, { idleTimeout: 50 }).send(get);
    const reader = reply.bytes()[Symbol.asyncIterator]();
    await reader.next();
    const failure = failureOf(reader.next());
    vi.advanceTimersByTime(50);
    expect(await failure).toBeInstanceOf(UnknownOutcomeError);
  });

  it('that trickles is an unknown outcome, though a byte comes now and then', async () => {
    const bytes = new EventEmitter();
    const port = await answering(`${head}content-length: 100\r\n\r\n`, (socket) => {
      bytes.on('next', () => socket.write('x'));
    });
    holdTime();
    const reply = await wireTo(port, { idleTimeout: 50 }).send(get);
    const reader = reply.bytes()[Symbol.asyncIterator]();
    let read = 0;
    const failure = failureOf(
      (async () => {
        while (read < 10) {
          const next = reader.next();
          // The last one is not waited for in vain: time is up before it is.
          vi.advanceTimersByTime(20);
          bytes.emit('next');
          await next;
          read += 1;
        }
      })(),
    );
    expect(await failure).toBeInstanceOf(UnknownOutcomeError);
    expect(read).toBe(2);
  });

  it('may be slow as long as a kilobyte comes in time', async () => {
    const bytes = new EventEmitter();
    const port = await answering(`${head}content-length: 10240\r\n\r\n`, (socket) => {
      bytes.on('next', () => socket.write(Buffer.alloc(1024, 'x')));
    });
    holdTime();
    const reply = await wireTo(port, { idleTimeout: 50 }).send(get);
    const reader = reply.bytes()[Symbol.asyncIterator]();
    for (let read = 0; read < 10_240; ) {
      const next = reader.next();
      vi.advanceTimersByTime(40);
      bytes.emit('next');
      read += (await next).value.length;
    }
  });

  it('waits for a reader that is slower than the idle timeout', async () => {
    const port = await http((_request, response) => void response.end(Buffer.alloc(2_000_000)));
    holdTime();
    const reply = await wireTo(port, { idleTimeout: 30 }).send(get);
    let received = 0;
    for await (const chunk of reply.bytes()) {
      if (received === 0) vi.advanceTimersByTime(100);
      received += chunk.length;
    }
    expect(received).toBe(2_000_000);
  });

  it('can be read as text and as JSON, but streamed only once', async () => {
    const port = await answering(`${head}content-length: 11\r\n\r\n\ufeff{"é":1}`);
    const reply = await wireTo(port).send(get);
    expect(await reply.json()).toEqual({ é: 1 });
    expect(await reply.text()).toBe('{"é":1}');
    expect(await failureOf(readAll(reply.bytes()))).toMatchObject({ code: 'INVARIANT' });
  });

  it('that is not JSON is shown, but only its beginning', async () => {
    const page = `<html>${'x'.repeat(10_000)}`;
    const port = await http((_request, response) => void response.writeHead(502).end(page));
    const error = await failureOf((await wireTo(port).send(get)).json());
    expect(error).toBeInstanceOf(UnknownOutcomeError);
    expect((error as Error).message).toContain('<html>xxx');
    expect((error as Error).message.length).toBeLessThan(400);
  });

  it('can be discarded, and the connection serves the next request', async () => {
    const ports = new Set<number | undefined>();
    const port = await http((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('x'.repeat(1_000));
    });
    const wire = wireTo(port);
    for (let round = 0; round < 10; round += 1) {
      await (await wire.send(post())).discard();
      // undici gives a connection free some turn later, to see whether the server closes it.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ports.size).toBeLessThan(10);
  });

  it('can be left in the middle', async () => {
    const port = await http((_request, response) => void response.end(Buffer.alloc(5_000_000)));
    const wire = wireTo(port);
    const reply = await wire.send(get);
    for await (const _chunk of reply.bytes()) break;
    await reply.discard();
    expect((await wire.send(get)).status).toBe(200);
  });

  it('can be discarded while someone reads it, and that breaks the reading only', async () => {
    const port = await http((_request, response) => void response.end(Buffer.alloc(5_000_000)));
    const reply = await wireTo(port).send(get);
    const reader = reply.bytes()[Symbol.asyncIterator]();
    await reader.next();
    await reply.discard();
    await new Promise((resolve) => setTimeout(resolve, 10));
    const rest = (async () => {
      while (!(await reader.next()).done);
    })();
    expect(await failureOf(rest)).toBeInstanceOf(UnknownOutcomeError);
  });
});

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _chunk of chunks);
}
