import http, { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import got from 'got';
import { describe, expect, it } from 'vitest';
import {
  answerLater,
  answerWith,
  inside,
  neverAnswer,
  type TestScope,
  testScope,
} from '../../../test/support/hook-scope.ts';
import { useHookedServer } from '../../../test/support/servers/hooked-server.ts';
import { booksOf, eventsOf, received } from '../../../test/support/servers/http-exchange.ts';
import { soon, until } from '../../../test/support/until.ts';

const server = useHookedServer();
const post = { method: 'POST' };

describe('a request that is held', () => {
  it('may be written in pieces, of known length or in chunks', async () => {
    for (const headers of [{ 'content-length': '9' }, {}]) {
      const scope = testScope();
      const request = inside(scope, () => http.request(server.url, { ...post, headers }));
      for (const piece of ['abc', Buffer.from('def')]) {
        await new Promise<void>((resolve) => request.write(piece, () => resolve()));
        expect(scope.requests).toEqual([]);
      }
      await received(request.end('ghi'));
      expect(scope.requests[0]?.body).toBe('abcdefghi');
    }
  });

  it('may be larger than every buffer, and so may its answer', async () => {
    const large = 'ü'.repeat(3_000_000);
    const scope = testScope(answerWith(large));
    const request = inside(scope, () => http.request(server.url, post));
    const { body } = await received(request.end(large));
    expect(body === large).toBe(true);
    expect(scope.requests[0]?.body === large).toBe(true);
  });

  it('gets 100 Continue when it expects that', async () => {
    const scope = testScope();
    const headers = { expect: '100-continue' };
    const request = inside(scope, () => http.request(server.url, { ...post, headers }));
    const events = eventsOf(request);
    request.once('continue', () => request.end('after'));
    request.flushHeaders();
    expect((await soon(received(request))).body).toBe('{"captured":true}');
    expect(scope.requests[0]?.body).toBe('after');
    expect(events.filter((name) => name === 'continue')).toHaveLength(1);
  });

  it('has a socket that connects, and that is encrypted over https', async () => {
    const facts = async (make: () => ClientRequest) => {
      const request = inside(testScope(), make);
      const events: string[] = [];
      let encrypted: unknown;
      request.once('socket', (socket: Socket & { encrypted?: boolean }) => {
        events.push(socket.connecting ? 'connecting' : 'connected');
        encrypted = socket.encrypted;
        for (const name of ['connect', 'ready', 'close']) {
          socket.on(name, () => events.push(name));
        }
        socket.setNoDelay(true).setKeepAlive(true).unref().ref();
      });
      await received(request.end('x'));
      await until(() => events.includes('close'));
      return [encrypted, ...events];
    };
    const plain = ['connecting', 'connect', 'ready', 'close'];
    expect(await facts(() => http.request(server.url, post))).toEqual([undefined, ...plain]);
    const make = () => https.request('https://llm.example/v1/chat', post);
    expect(await facts(make)).toEqual([true, ...plain]);
  });

  it('does not time out', async () => {
    const later = answerLater();
    const scope = testScope(later.handle);
    const agent = new Agent({ timeout: 5 });
    const request = inside(scope, () => http.request(server.url, { ...post, timeout: 5, agent }));
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
    const request = inside(scope, () => http.request(server.url, post)).end('x');
    const events = eventsOf(request);
    await expect(received(request)).rejects.toThrow('stopped');
    await until(() => events.includes('close'));
    expect(booksOf(request)).toEqual([0, 0, 0]);
    const odd = testScope(() => Promise.reject('no error'));
    const other = inside(odd, () => http.request(server.url, post)).end('x');
    await expect(received(other)).rejects.toThrow('no error');
  });

  it('goes out when its scope has closed before its body was there, and says so', async () => {
    const scope = testScope(() =>
      scope.open ? { status: 200, headers: {}, body: '' } : undefined,
    );
    const request = inside(scope, () => http.request(server.url, post));
    await new Promise<void>((resolve) => request.write('x', () => resolve()));
    scope.open = false;
    expect((await received(request.end('y'))).body).toBe('real');
  });
});

describe('a request that is given up', () => {
  async function given(up: (request: ClientRequest) => unknown, scope: TestScope) {
    const request = inside(scope, () => http.request(server.url, post)).end('x');
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
    const request = inside(scope, () => http.request(server.url, options)).end('x');
    const failure = received(request).catch((error: Error) => error.name);
    await until(() => scope.signals.length === 1);
    controller.abort();
    expect(await failure).toBe('AbortError');
    expect(scope.signals[0]?.aborted).toBe(true);
  });

  it('before it had its socket is never captured', async () => {
    const scope = testScope(neverAnswer);
    const request = inside(scope, () => http.request(server.url, post));
    const response = received(request.end('x'));
    request.destroy();
    await expect(response).rejects.toThrow('socket hang up');
    expect([scope.requests, server.seen]).toEqual([[], []]);
    expect(booksOf(request)).toEqual([0, 0, 0]);
  });

  it('while its body is being written is never captured', async () => {
    const scope = testScope(neverAnswer);
    const request = inside(scope, () => http.request(server.url, post));
    const response = received(request);
    await new Promise<void>((resolve) => request.write('x', () => resolve()));
    request.destroy();
    await expect(response).rejects.toThrow('socket hang up');
    expect([scope.requests, server.seen]).toEqual([[], []]);
  });

  it('after its answer aborts nothing', async () => {
    const scope = testScope();
    const request = inside(scope, () => http.request(server.url, post)).end('x');
    await new Promise((resolve) => request.once('response', resolve));
    request.destroy();
    await until(() => request.closed);
    expect(scope.signals[0]?.aborted).toBe(false);
  });
});

describe('a client that checks its server', () => {
  const secureUrl = 'https://llm.example/v1/chat';

  it('and looks at it only when its body is written is told that there is none to trust', async () => {
    const scope = testScope();
    const request = inside(scope, () => https.request(secureUrl, post)).end('x');
    const { socket } = await new Promise<IncomingMessage>((resolve) =>
      request.once('response', resolve),
    );
    const secure = socket as TLSSocket;
    const facts = [secure.authorized, secure.authorizationError, secure.getPeerCertificate()];
    expect(facts).toEqual([false, 'ERR_BATCHLING_NO_SERVER', {}]);
    expect(scope.requests[0]?.checksServer).toBe(false);
    request.destroy();
  });

  it('does not include got, which reads only when the handshake was', async () => {
    const scope = testScope();
    const timeout = { secureConnect: 5_000 };
    const reply = await inside(scope, () => got.post(secureUrl, { json: { a: 1 }, timeout }));
    expect([reply.body, scope.requests[0]?.checksServer]).toEqual(['{"captured":true}', false]);
    expect(scope.requests[0]?.body).toBe('{"a":1}');
  });
});
