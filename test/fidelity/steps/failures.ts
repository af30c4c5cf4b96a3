import { request } from 'node:http';
import { against, answer, startPeer } from '../peer.ts';
import type { Step } from '../step.ts';
import { watch } from '../watch.ts';

const options = { method: 'POST', agent: false as const, headers: { 'content-length': 3 } };
const silent = answer('never');

export const failures: Step[] = [
  {
    name: 'nobody listens',
    run: async () => {
      const { url, port, close } = await startPeer(silent);
      await close();
      const seen = await watch(request(url, options).end('end'));
      return JSON.parse(JSON.stringify(seen).replaceAll(`:${port}`, ':PORT'));
    },
  },
  {
    name: 'the server hangs up',
    run: () =>
      against(
        (socket) => socket.end(),
        ({ url }) => watch(request(url, options).end('end')),
      ),
  },
  {
    name: 'the server resets the connection',
    run: () =>
      against(
        (socket) => socket.resetAndDestroy(),
        ({ url }) => watch(request(url, options).end('end')),
      ),
  },
  {
    name: 'the server breaks off in the middle',
    run: () =>
      against(
        (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'),
        ({ url }) => watch(request(url, options).end('end')),
      ),
  },
  {
    name: 'the server does not speak HTTP',
    run: () =>
      against(
        (socket) => socket.end('hello\r\n\r\n'),
        ({ url }) => watch(request(url, options).end('end')),
      ),
  },
  {
    name: 'the client gives up',
    run: () => {
      let told = () => {};
      return against(
        (_socket, text) => text.endsWith('end') && told(),
        async ({ url }) => {
          const sending = request(url, options);
          told = () => sending.destroy(new Error('enough'));
          return watch(sending.end('end'));
        },
      );
    },
  },
  {
    name: 'the client gives up by a signal',
    run: () => {
      const controller = new AbortController();
      return against(
        (_socket, text) => text.endsWith('end') && controller.abort(),
        ({ url }) => watch(request(url, { ...options, signal: controller.signal }).end('end')),
      );
    },
  },
  {
    name: 'the client gives up in the middle of the response',
    run: () =>
      against(answer('end', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'), ({ url }) => {
        const sending = request(url, options);
        sending.on('response', (response) => response.on('data', () => sending.destroy()));
        return watch(sending.end('end'));
      }),
  },
  {
    name: 'the connection is silent for too long',
    run: async () => {
      const seen = [];
      for (const way of ['option', 'method', 'socket'] as const) seen.push(await silence(way));
      return seen;
    },
  },
];

/** Long enough for the request to be there before: how long that takes is up to the machine. */
async function silence(way: 'option' | 'method' | 'socket'): Promise<unknown> {
  for (let timeout = 20; ; timeout *= 2) {
    const result = await against(silent, ({ url }) => {
      const sending = request(url, { ...options, ...(way === 'option' && { timeout }) });
      if (way === 'method') sending.setTimeout(timeout);
      const end = () => sending.destroy(new Error('silence'));
      if (way === 'socket') sending.on('socket', (socket) => socket.setTimeout(timeout, end));
      else sending.on('timeout', end);
      return watch(sending.end('end'));
    });
    const { bytes } = result as { bytes: string[] };
    if (bytes[0]?.endsWith('end') || timeout > 5_000) return result;
  }
}
