import http, { Agent, request } from 'node:http';
import { against, answer, ok } from '../peer.ts';
import type { Step } from '../step.ts';
import { watch } from '../watch.ts';

const post = { method: 'POST', agent: false as const };

export const exchanges: Step[] = [
  {
    name: 'the case and the order of headers',
    run: () =>
      against(
        answer('end', ok('{}', 'X-ANSWER: 1', 'x-answer: 2', 'Set-Cookie: a')),
        async ({ url }) => {
          const headers = {
            'X-ZULU': '1',
            'x-Alpha': ['2', '3'],
            'Content-Length': 3,
            HOST: 'a.example',
          };
          return watch(request(url, { ...post, headers }).end('end'));
        },
      ),
  },
  {
    name: 'headers in a list',
    run: () =>
      against(answer('end', ok('{}')), async ({ url }) => {
        const headers = ['X-B', '1', 'x-a', '2', 'X-B', '3', 'Host', 'x', 'Content-Length', '3'];
        return watch(request(url, { ...post, headers }).end('end'));
      }),
  },
  {
    name: 'no body where there is none',
    run: () =>
      against(
        answer('\r\n\r\n', 'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'),
        async ({ url }) => {
          const seen = [];
          for (const method of ['HEAD', 'DELETE', 'POST']) {
            seen.push(await watch(request(url, { agent: false, method }).end()));
          }
          return seen;
        },
      ),
  },
  {
    name: 'leave to go on',
    interactive: true,
    run: () =>
      against(
        (socket, text) => {
          if (text.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
          if (text.endsWith('end')) socket.write(ok('{}'));
        },
        async ({ url }) => {
          const headers = { Expect: '100-continue', 'content-length': 3 };
          const waiting = request(url, { ...post, headers });
          waiting.on('continue', () => waiting.end('end'));
          return watch(waiting);
        },
      ),
  },
  {
    name: 'early hints',
    run: () =>
      against(
        answer('end', 'HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n', ok('{}')),
        async ({ url }) =>
          watch(request(url, { ...post, headers: { 'content-length': 3 } }).end('end')),
      ),
  },
  {
    name: 'an upgrade',
    run: () =>
      against(
        (socket, text) => {
          const switching =
            'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
          if (text.endsWith('\r\n\r\n')) socket.write(switching);
          if (text.endsWith('ping')) socket.end('pong');
        },
        ({ url }) =>
          new Promise((resolve) => {
            const headers = { Connection: 'Upgrade', Upgrade: 'echo' };
            const upgrading = request(url, { ...post, headers });
            upgrading.on('upgrade', (response, socket, head) => {
              let text = head.toString();
              socket.on('data', (piece: Buffer) => {
                text += piece;
              });
              socket.on('end', () => resolve([response.statusCode, response.rawHeaders, text]));
              socket.write('ping');
            });
            upgrading.end();
          }),
      ),
  },
  {
    name: 'a tunnel',
    run: () =>
      against(
        (socket, text) => {
          if (text.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 200 Connected\r\n\r\n');
          if (text.endsWith('ping')) socket.end('pong');
        },
        ({ port }) =>
          new Promise((resolve) => {
            const options = { port, host: '127.0.0.1', method: 'CONNECT', path: 'a.example:443' };
            const tunnel = request({ ...options, agent: false });
            tunnel.on('connect', (response, socket) => {
              socket.on('data', (text: Buffer) => resolve([response.statusCode, `${text}`]));
              socket.write('ping');
            });
            tunnel.end();
          }),
      ),
  },
  {
    name: 'connections that are kept alive',
    run: () =>
      against(answer('end', ok('{}')), async ({ url }) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const seen = [];
        for (let turn = 0; turn < 3; turn += 1) {
          const options = { ...post, agent, headers: { 'content-length': 3 } };
          seen.push(await watch(request(url, options).end('end')));
          seen.push(Object.values(agent.freeSockets).length, Object.keys(agent.sockets).length);
        }
        agent.destroy();
        return seen;
      }),
  },
  {
    name: 'a queue before a narrow agent',
    run: () =>
      against(answer('end', ok('{}')), async ({ url }) => {
        const agent = new Agent({ maxSockets: 1 });
        const options = { ...post, agent, headers: { 'content-length': 4 } };
        return Promise.all([1, 2, 3].map((turn) => watch(request(url, options).end(`${turn}end`))));
      }),
  },
  {
    name: 'a redirect that nobody follows',
    run: () =>
      against(
        answer('\r\n\r\n', 'HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n'),
        ({ url }) => watch(http.get(url, { agent: false })),
      ),
  },
];
