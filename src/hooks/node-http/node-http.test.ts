import http, { Agent, ClientRequest, request as earlyRequest } from 'node:http';
import https from 'node:https';
import { afterEach, describe, expect, it } from 'vitest';
import { answerLater, answerWith, inside, testScope } from '../../../test/support/hook-scope.ts';
import { useHookedServer } from '../../../test/support/servers/hooked-server.ts';
import { booksOf, eventsOf, received } from '../../../test/support/servers/http-exchange.ts';
import { until } from '../../../test/support/until.ts';
import { hookNodeHttp, isNodeHttpHooked } from './node-http.ts';

const native = (Agent.prototype as unknown as { addRequest: unknown }).addRequest;
const current = () => (Agent.prototype as unknown as { addRequest: unknown }).addRequest;
const post = { method: 'POST' };
// Said first, so that it runs last.
afterEach(() => {
  expect(current()).toBe(native);
});
const server = useHookedServer();

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
    server.undo();
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
    await received(http.request(server.url, post).end('x'));
    const { body } = await received(inside(scope, () => http.request(server.url, post)).end('x'));
    expect([scope.asked, body]).toEqual([
      [{ method: 'POST', url: server.url }],
      '{"captured":true}',
    ]);
    expect(server.seen).toEqual(['POST /v1/chat']);
  });

  it('leaves alone what the scope does not want', async () => {
    const scope = testScope();
    const { body } = await received(inside(scope, () => http.get(server.url)));
    expect([body, scope.requests]).toEqual(['real', []]);
  });

  it('asks once, although another library has wrapped the method in between', async () => {
    const ours = current() as (...values: unknown[]) => void;
    const prototype = Agent.prototype as unknown as { addRequest: unknown };
    prototype.addRequest = function theirs(this: Agent, ...values: unknown[]) {
      return Reflect.apply(ours, this, values);
    };
    const undoOuter = hookNodeHttp();
    const scope = testScope(() => undefined);
    const { body } = await received(inside(scope, () => http.request(server.url, post)).end('x'));
    expect([body, scope.requests.length]).toEqual(['real', 1]);
    undoOuter();
    prototype.addRequest = ours;
  });
});

describe('a captured request', () => {
  const ways: [string, () => ClientRequest][] = [
    ['http.request', () => http.request(server.url, post)],
    ['an import taken before the hook', () => earlyRequest(server.url, post)],
    ['agent: false', () => http.request(server.url, { ...post, agent: false })],
    ['a keep-alive agent', () => http.request(server.url, { ...post, agent: keepAlive })],
    ['an agent with one socket', () => http.request(server.url, { ...post, agent: narrow })],
    ['new ClientRequest', () => new ClientRequest(server.url as never, post as never)],
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
    expect(scope.requests[0]?.body).toBe('{"a":"ü"}');
    expect(scope.signals[0]?.aborted).toBe(false);
    expect(server.seen).toEqual([]);
    expect(booksOf(request)).toEqual([0, 0, 0]);
  });

  it('made by http.get has its answer too', async () => {
    const scope = testScope();
    const { body } = await received(inside(scope, () => http.get(server.url, post)));
    expect([body, scope.requests[0]?.body, server.seen]).toEqual(['{"captured":true}', '', []]);
  });

  it('comes with its URL and lower-case headers', async () => {
    const scope = testScope();
    const headers = { 'X-Mark': ['1', '2'], Authorization: 'Bearer k' };
    const options = { ...post, headers };
    await received(
      inside(scope, () => https.request('https://llm.example/v1/x?y=1', options)).end(),
    );
    await received(inside(scope, () => https.request('https://[::1]:8443/v1/x', post)).end());
    expect(scope.requests[0]).toMatchObject({
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
      received(inside(scope, () => http.request(server.url, { ...post, agent })).end(`${index}`)),
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
      const make = () => http.request(server.url, { ...post, agent });
      const request = (captured ? inside(scope, make) : make()).end('x');
      await received(request);
      await until(() => request.closed);
      reused.push(request.reusedSocket);
    }
    expect(reused).toEqual([false, false, true, false, true]);
    expect([server.seen.length, scope.requests.length]).toEqual([3, 2]);
    agent.destroy();
  });
});
