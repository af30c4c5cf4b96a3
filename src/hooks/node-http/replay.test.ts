import http, { Agent, type ClientRequest } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inside, letOut, testScope } from '../../../test/support/hook-scope.ts';
import { booksOf, eventsOf, received } from '../../../test/support/servers/http-exchange.ts';
import { soon, until } from '../../../test/support/until.ts';
import { hookNodeHttp } from './node-http.ts';

type Answer = (socket: Socket, bytes: string) => void;

const reply = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
let server: Server;
let url: string;
let connections: Socket[];
let bytes: string;
let answer: Answer;
let undo: () => void;

beforeEach(async () => {
  connections = [];
  bytes = '';
  answer = (socket, text) => {
    if (text.endsWith('end')) socket.write(reply('real'));
  };
  server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => undefined);
    socket.setEncoding('latin1').on('data', (text: string) => {
      bytes += text;
      answer(socket, bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat`;
  undo = hookNodeHttp();
});

afterEach(() => {
  undo();
  for (const socket of connections) socket.destroy();
  server.close();
});

function send(options: http.RequestOptions = {}, handle = letOut): ClientRequest {
  return inside(testScope(handle), () => http.request(url, { method: 'POST', ...options }));
}

function countOf(agent: Agent): number {
  const { sockets, requests, freeSockets } = agent;
  return Object.keys({ ...sockets, ...requests, ...freeSockets }).length;
}

describe('a request that is let out', () => {
  it('leaves byte for byte as one that was never held', async () => {
    const headers = { 'X-ZULU': '1', 'x-alpha': ['2', '3'], 'Content-Length': '6' };
    const ways = [
      (make: () => ClientRequest) => make(),
      (make: () => ClientRequest) => inside(testScope(letOut), make),
    ];
    const sent: string[] = [];
    for (const way of ways) {
      bytes = '';
      const request = way(() => http.request(url, { method: 'POST', agent: false, headers }));
      request.write('ab\n');
      expect((await received(request.end('end'))).body).toBe('real');
      sent.push(bytes);
    }
    expect(sent[1]).toBe(sent[0]);
    expect(sent[0]).toContain('X-ZULU: 1\r\nx-alpha: 2\r\nx-alpha: 3\r\n');
  });

  it('keeps its chunks and its trailers', async () => {
    const request = send({ headers: { trailer: 'X-Sum' } });
    answer = (socket, text) => {
      if (text.endsWith('0\r\nX-Sum: 7\r\n\r\n')) socket.write(reply('real'));
    };
    request.write('abc');
    request.addTrailers({ 'X-Sum': '7' });
    await soon(received(request.end('de')));
    expect(bytes).toContain('\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 7\r\n\r\n');
  });

  it('does not show the header that is for us', async () => {
    const late = send();
    late.setHeader('X-Batchling', 'off');
    await soon(received(late.end('end')));
    const early = send({ headers: { 'x-batchling': 'off', 'x-kept': '1' } });
    await soon(received(early.end('end')));
    expect(bytes).not.toMatch(/batchling/i);
    expect(bytes).toContain('x-kept: 1');
  });

  it('is native from the start when it carries that header', async () => {
    const scope = testScope();
    const headers = { 'x-batchling': 'off' };
    const make = () => http.request(url, { method: 'POST', headers });
    await soon(received(inside(scope, make).end('end')));
    expect(scope.requests).toEqual([]);
  });

  it('uses the connections that its agent keeps alive, and gives them back', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const reused: boolean[] = [];
    for (const held of [true, true, false, true]) {
      bytes = '';
      const request = held ? send({ agent }) : http.request(url, { method: 'POST', agent });
      expect((await soon(received(request.end('end')))).body).toBe('real');
      await until(() => countOf(agent) === 1 && Object.keys(agent.freeSockets).length === 1);
      reused.push(request.reusedSocket);
    }
    expect(reused).toEqual([false, true, true, true]);
    expect(connections).toHaveLength(1);
    agent.destroy();
    await until(() => countOf(agent) === 0);
  });

  it('waits its turn at a narrow agent', async () => {
    const agent = new Agent({ maxSockets: 1 });
    answer = (socket, text) => {
      if (!text.endsWith('end')) return;
      bytes = '';
      setImmediate(() => socket.write(reply('real')));
    };
    const all = [1, 2, 3].map(() => received(send({ agent }).end('end')));
    const bodies = (await soon(Promise.all(all))).map(({ body }) => body);
    expect(bodies).toEqual(['real', 'real', 'real']);
    await until(() => countOf(agent) === 0);
  });

  it('gives up its turn when it is destroyed in the meantime', async () => {
    const agent = new Agent({ maxSockets: 1, keepAlive: true });
    const open: Socket[] = [];
    answer = (socket, text) => {
      if (text.endsWith('end')) open.push(socket);
    };
    const first = received(send({ agent }).end('end'));
    await until(() => open.length === 1);
    const second = send({ agent });
    const failure = received(second.end('end')).catch((error: Error) => error.message);
    await until(() => Object.keys(agent.requests).length === 1);
    second.destroy();
    expect(await failure).toBe('socket hang up');
    open[0]?.write(reply('one'));
    expect((await soon(first)).body).toBe('one');
    await until(() => Object.keys(agent.requests).length === 0);
    agent.destroy();
    await until(() => countOf(agent) === 0);
  });

  it('is asked to go on once, although the server asks too', async () => {
    for (const cut of [0, 9]) {
      bytes = '';
      const go = 'HTTP/1.1 100 Continue\r\n\r\n';
      answer = (socket, text) => {
        if (!text.endsWith('end')) return;
        socket.write(go.slice(0, cut));
        setTimeout(() => socket.write(go.slice(cut) + reply('real')), 5);
      };
      const request = send({ headers: { expect: '100-continue', 'content-length': '3' } });
      const events = eventsOf(request);
      request.once('continue', () => request.end('end'));
      request.flushHeaders();
      expect((await soon(received(request))).body).toBe('real');
      expect(events.filter((name) => name === 'continue')).toHaveLength(1);
    }
  });

  it('gets its answer from a server that sends no 100 Continue', async () => {
    const request = send({ headers: { expect: '100-continue', 'content-length': '3' } });
    request.once('continue', () => request.end('end'));
    request.flushHeaders();
    expect((await soon(received(request))).body).toBe('real');
  });

  it('times out as its client has asked', async () => {
    answer = () => undefined;
    for (const late of [false, true]) {
      const request = send(late ? {} : { timeout: 20 });
      if (late) request.setTimeout(20);
      const failure = received(request.end('end')).catch((error: Error) => error.message);
      await soon(new Promise((resolve) => request.once('timeout', resolve)));
      request.destroy(new Error('too late'));
      expect(await failure).toBe('too late');
    }
  });

  it('fails as the connection fails', async () => {
    answer = (socket) => socket.resetAndDestroy();
    await expect(received(send().end('end'))).rejects.toMatchObject({ code: 'ECONNRESET' });
    answer = (socket) => socket.end();
    await expect(received(send().end('end'))).rejects.toThrow('socket hang up');
    server.close();
    for (const socket of connections) socket.destroy();
    await expect(received(send({ agent: false }).end('end'))).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });

  it('fails as its agent fails', async () => {
    const broken = new Agent();
    broken.createConnection = () => {
      throw new Error('no way out');
    };
    await expect(received(send({ agent: broken }).end('end'))).rejects.toThrow('no way out');
    const refusing = new Agent();
    refusing.createConnection = (_options, callback) => {
      setImmediate(() => callback?.(new Error('not now'), undefined as never));
      return undefined;
    };
    await expect(received(send({ agent: refusing }).end('end'))).rejects.toThrow('not now');
  });

  it('closes its connection with the client', async () => {
    answer = () => undefined;
    const request = send().end('end');
    const failure = received(request).catch((error: Error) => error.message);
    await until(() => bytes.endsWith('end'));
    request.destroy(new Error('enough'));
    expect(await failure).toBe('enough');
    await until(() => connections[0]?.destroyed === true);
    await until(() => booksOf(request).every((count) => count === 0));
  });

  it('hands a long response on no faster than it is read', async () => {
    const length = 30_000_000;
    answer = (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\nconnection: close\r\n\r\n`);
      socket.end(Buffer.alloc(length, 'x'));
    };
    const request = send({ agent: false }).end('end');
    const response = await soon(
      new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve)),
    );
    await new Promise((resolve) => setTimeout(resolve, 30));
    const held = response.readableLength + (request.socket?.readableLength ?? 0);
    expect(held).toBeLessThan(1_000_000);
    let size = 0;
    for await (const chunk of response) size += (chunk as Buffer).length;
    expect(size).toBe(length);
  });

  it('may become another protocol', async () => {
    answer = (socket, text) => {
      if (text.endsWith('\r\n\r\n')) {
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\nhi',
        );
      } else if (text.endsWith('ping')) socket.end('pong');
    };
    const scope = testScope();
    const headers = ['Connection', 'Upgrade', 'Upgrade', 'echo'];
    const options = { method: 'POST', headers, agent: new Agent({ keepAlive: true }) };
    const request = inside(scope, () => http.request(url, options)).end();
    const [socket, first] = await soon(
      new Promise<[Socket, Buffer]>((resolve) => {
        request.once('upgrade', (_response, upgraded, head) => resolve([upgraded as Socket, head]));
      }),
    );
    let text = first.toString();
    socket.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    socket.write('ping');
    await soon(new Promise((resolve) => socket.once('close', resolve)));
    expect([text, scope.requests]).toEqual(['hipong', []]);
    await until(() => countOf(options.agent) === 0);
  });

  it('is for the server to judge when its body ends too early', async () => {
    const request = send({ headers: { 'content-length': '100' } });
    answer = (socket) => socket.end(`HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n`);
    expect((await soon(received(request.end('short')))).status).toBe(400);
  });
});
