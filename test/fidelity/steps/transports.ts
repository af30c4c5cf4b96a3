import { request } from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { createConnection } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { certificate } from '../certificate.ts';
import { against, answer, ok } from '../peer.ts';
import type { Step } from '../step.ts';
import { watch } from '../watch.ts';

const post = { method: 'POST', headers: { 'content-length': 3 } };

export const transports: Step[] = [
  {
    name: 'a connection of its own making',
    run: () =>
      against(answer('end', ok('{}')), ({ url, port }) => {
        const connect = () => createConnection(port, '127.0.0.1');
        return watch(request(url, { ...post, createConnection: connect }).end('end'));
      }),
  },
  {
    name: 'a secure connection',
    run: () =>
      against(
        answer('end', ok('{}')),
        async ({ url }) => {
          const agent = new https.Agent({ ca: certificate, keepAlive: true });
          const seen: unknown[] = [];
          for (let turn = 0; turn < 2; turn += 1) {
            const sending = https.request(url, { ...post, agent });
            sending.on('response', ({ socket }) => seen.push((socket as TLSSocket).authorized));
            seen.push(await watch(sending.end('end')));
          }
          agent.destroy();
          return seen;
        },
        true,
      ),
  },
  {
    name: 'a certificate that nobody trusts',
    run: () =>
      against(
        answer('end', ok('{}')),
        async ({ url }) => {
          const { error } = await watch(https.request(url, { ...post, agent: false }).end('end'));
          return error;
        },
        true,
      ),
  },
  { name: 'HTTP/2', run: useHttp2 },
  {
    name: 'fetch with a redirect',
    run: () => {
      const moved = 'HTTP/1.1 307 Moved\r\nLocation: /v1/other\r\nContent-Length: 0\r\n\r\n';
      return against(
        (socket, text, answered) => {
          if (!text.endsWith('end')) return;
          answered();
          socket.write(text.startsWith('POST /v1/chat') ? moved : ok('{"moved":true}'));
        },
        async ({ url }) => {
          const headers = { 'X-Case': '1', connection: 'close' };
          const response = await fetch(url, { method: 'POST', body: 'end', headers });
          const { status, redirected } = response;
          return [status, redirected, response.url, [...response.headers], await response.text()];
        },
      );
    },
  },
  {
    name: 'fetch with a body that flows',
    run: () =>
      against(answer('0\r\n\r\n', ok('{}')), async ({ url }) => {
        const body = new ReadableStream({
          start(controller) {
            for (const piece of ['one', 'two']) controller.enqueue(new TextEncoder().encode(piece));
            controller.close();
          },
        });
        const response = await fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit);
        return [response.status, await response.text()];
      }),
  },
];

async function useHttp2(): Promise<unknown> {
  const server = http2.createServer((incoming, response) => {
    let text = '';
    incoming.on('data', (piece: Buffer) => {
      text += piece;
    });
    incoming.on('end', () => response.end(`${incoming.method} ${incoming.url} ${text}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ':method': 'POST', ':path': '/v1/chat' });
  stream.end('body');
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) text += piece;
  session.close();
  server.close();
  return text;
}
