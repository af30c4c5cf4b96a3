import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { responseStatus } from './response-status.ts';

let server: Server;
let respond: (response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((incoming, response) => {
    incoming.resume();
    respond(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(() => void server.close().closeAllConnections());

const get = () => request({ port: (server.address() as AddressInfo).port, agent: false }).end();

it('is there with the head, whether or not the body has come', async () => {
  respond = (response) => response.writeHead(404).write('not all of it');
  const sent = get();
  expect(await responseStatus(sent)).toBe(404);
  sent.on('error', () => undefined).destroy();
});

it('is that of the response, not of what the server says before it', async () => {
  respond = (response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' });
    response.end();
  };
  expect(await responseStatus(get())).toBe(200);
});

it('is that of its own request', async () => {
  const answers: ServerResponse[] = [];
  respond = (response) => void answers.push(response);
  const first = responseStatus(get());
  const second = responseStatus(get());
  while (answers.length < 2) await once(server, 'request');
  await new Promise(setImmediate);
  const all = Promise.all([first, second]);
  for (const [index, response] of answers.entries()) response.writeHead(201 + index).end();
  expect((await all).sort()).toEqual([201, 202]);
});

it('is undefined when the connection breaks, before the client gets its error', async () => {
  respond = (response) => void response.destroy();
  const sent = get();
  const order: string[] = [];
  const status = responseStatus(sent).then((value) => order.push(`status ${value}`));
  sent.on('error', () => queueMicrotask(() => order.push('error')));
  await new Promise((resolve) => sent.once('close', resolve));
  await status;
  expect(order).toEqual(['status undefined', 'error']);
});

it('is undefined for a request that is destroyed, before or after', async () => {
  respond = () => undefined;
  const sent = get().on('error', () => undefined);
  const status = responseStatus(sent);
  sent.destroy();
  expect(await status).toBeUndefined();
  expect(await responseStatus(sent)).toBeUndefined();
});

it('lets Node discard a response that has no listener', async () => {
  respond = (response) => response.end('unread');
  const sent = get();
  await responseStatus(sent);
  await once(sent, 'close');
  expect(sent.listenerCount('response')).toBe(0);
});
