import http, { Agent, ClientRequest, request as earlyRequest } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answerLater,
  answerWith,
  inside,
  neverAnswer,
  type TestScope,
  testScope,
} from '../../test/support/hook-scope.ts';
import { booksOf, eventsOf, received } from '../../test/support/http-exchange.ts';
import { soon, until } from '../../test/support/until.ts';
import { hookNodeHttp, isNodeHttpHooked } from './node-http.ts';

const native = (Agent.prototype as unknown as { addRequest: unknown }).addRequest;
const current = () => (Agent.prototype as unknown as { addRequest: unknown }).addRequest;
const post = { method: 'POST' };
let url: string;
let seen: string[];
let undo: () => void;
let server: http.Server;

beforeEach(async () => {
  seen = [];
  server = http.createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume().once('end', () => response.end('real'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat`;
  undo = hookNodeHttp();
});

afterEach(() => {
  undo();
  server.close().closeAllConnections();
  expect(current()).toBe(native);
});

describe('the hook of node:http', () => {
  it('looks like what it replaces, and is put in place once', () => {
    const wrapper = current() as { name: string; length: number };
    expect(wrapper).not.toBe(native);
    expect([wrapper.name, wrapper.length]).toEqual(['addRequest', 4]);
    const again = hookNodeHttp();
    expect(current()).toBe(wrapper);
    again();
    again();
    expect([current(), isNodeHttpHooked()]).toEqual([wrapper, true]);
    undo();
    expect([current(), isNodeHttpHooked()]).toEqual([native, false]);
  });

  it('is shared by two copies of the package', async () => {
    const copy = './node-http.ts?copy';
    const other = (await import(/* @vite-ignore */ copy)) as typeof import('./node-http.ts');
    expect(other.hookNodeHttp).not.toBe(hookNodeHttp);
    const wrapper = current();
    const undoOther = other.hookNodeHttp();
    expect(current()).toBe(wrapper);
    undoOther();
  });

  it('asks the scope of the caller, and only inside of it', async () => {
    const scope = testScope();
    await received(http.request(url, post).end('x'));
    const { body } = await received(inside(scope, () => http.request(url, post)).end('x'));
    expect([scope.asked, body]).toEqual([[{ method: 'POST', url }], '{"captured":true}']);
    expect(seen).toEqual(['POST /v1/chat']);
  });

  it('leaves alone what the scope does not want', async () => {
    const scope = testScope();
    const { body } = await received(inside(scope, () => http.get(url)));
    expect([body, scope.requests]).toEqual(['real', []]);
  });

  it('asks once, although somebody else has wrapped the method in between', async () => {
    const ours = current() as (...values: unknown[]) => void;
    const prototype = Agent.prototype as unknown as { addRequest: unknown };
    prototype.addRequest = function theirs(this: Agent, ...values: unknown[]) {
      return Reflect.apply(ours, this, values);
    };
    const undoOuter = hookNodeHttp();
    const scope = testScope(() => undefined);
    const { body } = await received(inside(scope, () => http.request(url, post)).end('x'));
    expect([body, scope.requests.length]).toEqual(['real', 1]);
    undoOuter();
    prototype.addRequest = ours;
  });
});

describe('a captured request', () => {
  const ways: [string, () => ClientRequest][] = [
    ['http.request', () => http.request(url, post)],
    ['an import taken before the hook', () => earlyRequest(url, post)],
    ['agent: false', () => http.request(url, { ...post, agent: false })],
    ['a keep-alive agent', () => http.request(url, { ...post, agent: keepAlive })],
    ['an agent with one socket', () => http.request(url, { ...post, agent: narrow })],
    ['new ClientRequest', () => new ClientRequest(url as never, post as never)],
    ['https.request', () => https.request('https://llm.example/v1/chat', post)],
    [
      'https with agent: false',
      () => https.request('https://llm.example/v1/chat', { ...post, agent: false }),
    ],
  ];
  const keepAlive = new Agent({ keepAlive: true });
  const narrow = new Agent({ maxSockets: 1 });

  it.each(ways)('made by %s has its answer', async (_way, make) => {
    const scope = testScope(answerWith('{"é":1}', 201));
    const request = inside(scope, make);
    const events = eventsOf(request);
    const { status, message, headers, body } = await received(request.end('{"a":"ü"}'));
    expect([status, message, body]).toEqual([201, 'Created', '{"é":1}']);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'x-request-id': 'req_1',
      'content-length': '8',
      connection: 'close',
    });
    await until(() => events.includes('close'));
    expect(events).toEqual(['socket', 'finish', 'response', 'close']);
    expect(Buffer.from(scope.requests[0]?.body ?? []).toString()).toBe('{"a":"ü"}');
    expect(scope.signals[0]?.aborted).toBe(false);
    expect(seen).toEqual([]);
    expect(booksOf(request)).toEqual([0, 0, 0]);
  });

  it('made by http.get has its answer too', async () => {
    const scope = testScope();
    const { body } = await received(inside(scope, () => http.get(url, post)));
    expect([body, scope.requests[0]?.body.length, seen]).toEqual(['{"captured":true}', 0, []]);
  });

  it('comes with method, URL and lower-case headers', async () => {
    const scope = testScope();
    const headers = { 'X-Mark': ['1', '2'], Authorization: 'Bearer k' };
    const options = { ...post, headers };
    await received(
      inside(scope, () => https.request('https://llm.example/v1/x?y=1', options)).end(),
    );
    await received(inside(scope, () => https.request('https://[::1]:8443/v1/x', post)).end());
    expect(scope.requests[0]).toMatchObject({
      method: 'POST',
      url: 'https://llm.example/v1/x?y=1',
      headers: { host: 'llm.example', 'x-mark': '1, 2', authorization: 'Bearer k' },
    });
    expect(scope.requests[1]?.url).toBe('https://[::1]:8443/v1/x');
  });

  it('through a proxy leads where its first line says', async () => {
    const scope = testScope();
    const path = 'http://llm.example/v1/chat';
    const options = { host: '127.0.0.1', port: 9, path, ...post };
    await received(inside(scope, () => http.request(options)).end('x'));
    expect(scope.requests[0]?.url).toBe(path);
  });

  it('may be many at once, whatever its agent allows', async () => {
    const later = answerLater();
    const scope = testScope(later.handle);
    const agent = new Agent({ maxSockets: 1, maxTotalSockets: 1 });
    const all = Array.from({ length: 20 }, (_, index) =>
      received(inside(scope, () => http.request(url, { ...post, agent })).end(`${index}`)),
    );
    await until(() => scope.requests.length === 20);
    later.resolve({ status: 200, headers: {}, body: 'late' });
    expect(new Set((await Promise.all(all)).map(({ body }) => body))).toEqual(new Set(['late']));
    expect(agent).toMatchObject({ sockets: {}, requests: {}, freeSockets: {} });
  });

  it('leaves a keep-alive agent in order: plain requests still share a connection', async () => {
    const agent = new Agent({ keepAlive: true });
    const scope = testScope();
    const reused: boolean[] = [];
    for (const captured of [false, true, false, true, false]) {
      const make = () => http.request(url, { ...post, agent });
      const request = (captured ? inside(scope, make) : make()).end('x');
      await received(request);
      await until(() => request.closed);
      reused.push(request.reusedSocket);
    }
    expect(reused).toEqual([false, false, true, false, true]);
    expect([seen.length, scope.requests.length]).toEqual([3, 2]);
    agent.destroy();
  });

  it('may be written in pieces, of known length or in chunks', async () => {
    for (const headers of [{ 'content-length': '9' }, {}]) {
      const scope = testScope();
      const request = inside(scope, () => http.request(url, { ...post, headers }));
      for (const piece of ['abc', Buffer.from('def')]) {
        await new Promise<void>((resolve) => request.write(piece, () => resolve()));
        expect(scope.requests).toEqual([]);
      }
      await received(request.end('ghi'));
      expect(Buffer.from(scope.requests[0]?.body ?? []).toString()).toBe('abcdefghi');
    }
  });

  it('may be larger than every buffer, and so may its answer', async () => {
    const large = 'ü'.repeat(3_000_000);
    const scope = testScope(answerWith(large));
    const request = inside(scope, () => http.request(url, post));
    const { body } = await received(request.end(large));
    expect(body === large).toBe(true);
    expect(Buffer.from(scope.requests[0]?.body ?? []).toString() === large).toBe(true);
  });

  it('is told to go on when it asks for that', async () => {
    const scope = testScope();
    const headers = { expect: '100-continue' };
    const request = inside(scope, () => http.request(url, { ...post, headers }));
    const events = eventsOf(request);
    request.once('continue', () => request.end('after'));
    request.flushHeaders();
    expect((await soon(received(request))).body).toBe('{"captured":true}');
    expect(Buffer.from(scope.requests[0]?.body ?? []).toString()).toBe('after');
    expect(events.filter((name) => name === 'continue')).toHaveLength(1);
  });

  it('has a socket that connects, and that looks secure over https', async () => {
    const facts = async (make: () => ClientRequest) => {
      const request = inside(testScope(), make);
      const events: string[] = [];
      let encrypted: unknown;
      request.once('socket', (socket: Socket & { encrypted?: boolean }) => {
        events.push(socket.connecting ? 'connecting' : 'connected');
        encrypted = socket.encrypted;
        for (const name of ['connect', 'ready', 'secureConnect', 'close']) {
          socket.on(name, () => events.push(name));
        }
        socket.setNoDelay(true).setKeepAlive(true).unref().ref();
      });
      await received(request.end('x'));
      await until(() => events.includes('close'));
      return [encrypted, ...events];
    };
    const plain = ['connecting', 'connect', 'ready', 'close'];
    const secure = ['connecting', 'connect', 'ready', 'secureConnect', 'close'];
    expect(await facts(() => http.request(url, post))).toEqual([undefined, ...plain]);
    const make = () => https.request('https://llm.example/v1/chat', post);
    expect(await facts(make)).toEqual([true, ...secure]);
  });

  it('does not time out', async () => {
    const later = answerLater();
    const scope = testScope(later.handle);
    const agent = new Agent({ timeout: 5 });
    const request = inside(scope, () => http.request(url, { ...post, timeout: 5, agent }));
    const events = eventsOf(request);
    request.setTimeout(5, () => request.destroy());
    request.once('socket', (socket) => socket.setTimeout(5, () => socket.destroy()));
    const response = received(request.end('x'));
    await new Promise((resolve) => setTimeout(resolve, 60));
    later.resolve({ status: 200, headers: {}, body: 'late' });
    expect((await response).body).toBe('late');
    expect(events).not.toContain('timeout');
  });

  it('fails with the error of its scope', async () => {
    const scope = testScope(() => Promise.reject(new Error('stopped')));
    const request = inside(scope, () => http.request(url, post)).end('x');
    const events = eventsOf(request);
    await expect(received(request)).rejects.toThrow('stopped');
    await until(() => events.includes('close'));
    expect(booksOf(request)).toEqual([0, 0, 0]);
    const odd = testScope(() => Promise.reject('no error'));
    const other = inside(odd, () => http.request(url, post)).end('x');
    await expect(received(other)).rejects.toThrow('no error');
  });

  it('goes out when its scope has closed before its body was there', async () => {
    const scope = testScope();
    const request = inside(scope, () => http.request(url, post));
    await new Promise<void>((resolve) => request.write('x', () => resolve()));
    scope.open = false;
    expect((await received(request.end('y'))).body).toBe('real');
  });
});

describe('a request that is given up', () => {
  async function given(up: (request: ClientRequest) => unknown, scope: TestScope) {
    const request = inside(scope, () => http.request(url, post)).end('x');
    const events = eventsOf(request);
    const failure = received(request).then(
      () => undefined,
      (error: unknown) => error,
    );
    await until(() => scope.signals.length === 1);
    await up(request);
    const error = await soon(failure);
    await until(() => events.includes('close'));
    expect(booksOf(request)).toEqual([0, 0, 0]);
    return { error: error as Error & { code?: string }, reason: scope.signals[0]?.reason };
  }

  it('aborts the signal with its error', async () => {
    const stop = new Error('stop');
    const { error, reason } = await given(
      (request) => request.destroy(stop),
      testScope(neverAnswer),
    );
    expect([error, reason]).toEqual([stop, stop]);
  });

  it('aborts the signal also without an error', async () => {
    for (const way of ['destroy', 'abort'] as const) {
      const { error, reason } = await given((request) => request[way](), testScope(neverAnswer));
      expect([error.code, reason.name]).toEqual(['ECONNRESET', 'AbortError']);
    }
  });

  it('says that it was a deadline when it comes straight from a timer', async () => {
    const late = (request: ClientRequest) =>
      new Promise<void>((resolve) => {
        setTimeout(() => {
          request.destroy(new Error('late'));
          resolve();
        }, 2);
      });
    const { error, reason } = await given(late, testScope(neverAnswer));
    expect([error.message, reason]).toEqual(['late', 'timeout']);
  });

  it('follows the signal of its options', async () => {
    const scope = testScope(neverAnswer);
    const controller = new AbortController();
    const options = { ...post, signal: controller.signal };
    const request = inside(scope, () => http.request(url, options)).end('x');
    const failure = received(request).catch((error: Error) => error.name);
    await until(() => scope.signals.length === 1);
    controller.abort();
    expect(await failure).toBe('AbortError');
    expect(scope.signals[0]?.aborted).toBe(true);
  });

  it('before it had its socket is never captured', async () => {
    const scope = testScope(neverAnswer);
    const request = inside(scope, () => http.request(url, post));
    const response = received(request.end('x'));
    request.destroy();
    await expect(response).rejects.toThrow('socket hang up');
    expect([scope.requests, seen]).toEqual([[], []]);
    expect(booksOf(request)).toEqual([0, 0, 0]);
  });

  it('while its body is being written is never captured', async () => {
    const scope = testScope(neverAnswer);
    const request = inside(scope, () => http.request(url, post));
    const response = received(request);
    await new Promise<void>((resolve) => request.write('x', () => resolve()));
    request.destroy();
    await expect(response).rejects.toThrow('socket hang up');
    expect([scope.requests, seen]).toEqual([[], []]);
  });

  it('after its answer aborts nothing', async () => {
    const scope = testScope();
    const request = inside(scope, () => http.request(url, post)).end('x');
    await new Promise((resolve) => request.once('response', resolve));
    request.destroy();
    await until(() => request.closed);
    expect(scope.signals[0]?.aborted).toBe(false);
  });
});
