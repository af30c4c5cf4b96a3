import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { ok, type Peer, type Reaction, startPeer } from '../peer.ts';
import { eventOf, orSilence, type Probe } from './probe.ts';

/** The path of an LLM call at the host of somebody else: a message to a chat. */
const path = '/channels/1/messages';
const json = { 'content-type': 'application/json' };

async function at<T>(reaction: Reaction, run: (peer: Peer) => Promise<T>): Promise<unknown> {
  const peer = await startPeer(reaction);
  try {
    return await orSilence(run(peer));
  } finally {
    await peer.close();
  }
}

function post(port: number, headers: Record<string, string | number> = {}, agent?: Agent) {
  const options = {
    method: 'POST',
    path,
    port,
    host: '127.0.0.1',
    headers: { ...json, ...headers },
  };
  const sending = request({ ...options, agent: agent ?? false });
  sending.on('error', () => undefined);
  return sending;
}

const statusOf = async (sending: ClientRequest) => {
  const response = await eventOf<IncomingMessage>(sending, 'response');
  response.resume();
  return response.statusCode;
};

function eventsOf(sending: ClientRequest, ...names: string[]): string[] {
  const seen: string[] = [];
  for (const name of names) sending.on(name, () => seen.push(name));
  return seen;
}

const headEnds = (text: string) => text.includes('\r\n\r\n');
const refuse = (status: string) => `HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`;

export const foreignRequests: Probe[] = [
  {
    name: 'a server refuses by the head alone (401), and the client waits for that',
    run: () =>
      at(
        (socket, text) => headEnds(text) && socket.write(refuse('401 Unauthorized')),
        async ({ port }) => {
          const sending = post(port, { 'content-length': 20 });
          sending.flushHeaders();
          const status = await statusOf(sending);
          sending.destroy();
          return status;
        },
      ),
  },
  {
    name: 'a server refuses a body while it is being sent (413)',
    run: () =>
      at(
        (socket, text) => text.includes('first') && socket.end(refuse('413 Too Large')),
        async ({ port }) => {
          const sending = post(port);
          sending.write('"first');
          return statusOf(sending);
        },
      ),
  },
  {
    name: 'a server refuses `Expect: 100-continue` (417)',
    run: () =>
      at(
        (socket, text) => headEnds(text) && socket.write(refuse('417 Expectation Failed')),
        async ({ port }) => {
          const sending = post(port, { expect: '100-continue', 'content-length': 2 });
          const events = eventsOf(sending, 'continue', 'response');
          const status = await statusOf(sending);
          sending.destroy();
          return [status, ...events];
        },
      ),
  },
  {
    name: '`setTimeout` strikes while a body is being written',
    run: () =>
      at(
        () => undefined,
        async ({ port }) => {
          const sending = post(port);
          sending.setTimeout(50);
          sending.write('{');
          await eventOf(sending, 'timeout');
          sending.destroy();
          return 'timeout';
        },
      ),
  },
  {
    name: 'a large upload is at the server before it ends',
    run: () => {
      const size = 8_000_000;
      let received = 0;
      const { promise, resolve } = deferred();
      return at(
        (_socket, text, answered) => {
          received += text.length;
          answered();
          if (received >= size) resolve();
        },
        async ({ port }) => {
          const sending = post(port, { 'content-length': size + 1 });
          const piece = Buffer.alloc(80_000, 'x');
          const waits = [];
          for (let sent = 0; sent < size; sent += piece.length) {
            if (!sending.write(piece)) waits.push(await eventOf(sending, 'drain'));
          }
          await promise;
          sending.destroy();
          return ['all of it', waits.length > 0 ? 'with back pressure' : 'at once'];
        },
      );
    },
  },
  {
    name: 'two requests on one connection keep their order',
    run: () => {
      const order: string[] = [];
      return at(
        (socket, text, answered) => {
          if (!text.endsWith('}') && !text.startsWith('GET')) return;
          order.push(text.slice(0, 4).trim());
          answered();
          socket.write(ok('{}'));
        },
        async ({ port }) => {
          const agent = new Agent({ keepAlive: true, maxSockets: 1 });
          const first = post(port, { 'content-length': 2 }, agent);
          const second = request({ port, host: '127.0.0.1', path: '/next', agent }).end();
          first.end('{}');
          await Promise.all([statusOf(first), statusOf(second)]);
          agent.destroy();
          return order;
        },
      );
    },
  },
  {
    name: 'the address of the server',
    run: () =>
      at(
        (socket, text) => text.endsWith('{}') && socket.end(ok('{}')),
        async ({ port }) => {
          const sending = post(port, { 'content-length': 2 }).end('{}');
          const socket = await eventOf<Socket>(sending, 'socket');
          await eventOf(socket, 'connect');
          const early = socket.remoteAddress;
          const { socket: late } = await eventOf<IncomingMessage>(sending, 'response');
          return [early, late.remoteAddress, late === socket];
        },
      ),
  },
  {
    name: 'a server hears that a client gives up',
    run: () => {
      const { promise, resolve } = deferred();
      return at(
        (socket, text) => {
          socket.once('close', () => resolve());
          if (text.includes('first')) socket.write('HTTP/1.1 102 Processing\r\n\r\n');
        },
        async ({ port }) => {
          const sending = post(port);
          sending.write('"first');
          await eventOf(sending, 'information');
          sending.destroy();
          await promise;
          return 'it does';
        },
      );
    },
  },
  {
    name: 'nobody listens at the port',
    run: async () => {
      const { port, close } = await startPeer(() => undefined);
      await close();
      const sending = post(port, { 'content-length': 2 });
      const events = eventsOf(sending, 'socket', 'finish', 'error', 'close');
      sending.end('{}');
      await orSilence(eventOf(sending, 'close'));
      return events;
    },
  },
  {
    name: 'a buffer that is filled again after each write',
    run: () =>
      at(
        (socket, text) => text.endsWith('cccc') && socket.end(ok(text.slice(-12))),
        async ({ port }) => {
          const sending = post(port, { 'content-length': 12 });
          const buffer = Buffer.alloc(4);
          for (const letter of 'abc') {
            await new Promise<void>((resolve) => {
              sending.write(buffer.fill(letter), () => resolve());
            });
          }
          sending.end();
          const response = await eventOf<IncomingMessage>(sending, 'response');
          return String(await eventOf<Buffer>(response, 'data'));
        },
      ),
  },
  {
    name: 'the request is one like any other',
    run: () =>
      at(
        (socket, text) => text.endsWith('{}') && socket.end(ok('{}')),
        async ({ port }) => {
          const sending = post(port, { 'content-length': 2 });
          const during = [sending.write.name, sending.write.length, sending.end.length];
          sending.end('{}');
          const own = Object.keys(sending).filter((name) => name === 'write' || name === 'end');
          const native = sending.write === Object.getPrototypeOf(sending).write;
          return [await statusOf(sending), ...during, own, native];
        },
      ),
  },
];

function deferred() {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
