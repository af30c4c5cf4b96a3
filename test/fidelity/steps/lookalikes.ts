import { request } from 'node:http';
import { against, answer, ok } from '../peer.ts';
import type { Step } from '../step.ts';
import { watch } from '../watch.ts';

const json = '{"text":"hello","end":"end"}';
const headers = { 'Content-Type': 'application/json', 'X-Case': '1', connection: 'close' };
const post = { method: 'POST', agent: false as const };

/** Paths that LLM calls have, too. */
const paths = ['/v1/channels/1/messages', '/forms/1/responses', '/search/completions'];

/** Requests whose path is that of an LLM call, and that are something else. */
export const lookalikes: Step[] = [
  {
    name: 'paths of LLM calls',
    run: () =>
      against(answer('end"}', ok('{}', 'X-ANSWER: 1')), async ({ port }) => {
        const seen = [];
        for (const path of paths) {
          const url = `http://127.0.0.1:${port}${path}`;
          seen.push(await watch(request(url, { ...post, headers }).end(json)));
        }
        return seen;
      }),
  },
  {
    name: 'paths of LLM calls by fetch',
    run: () =>
      against(answer('end"}', ok('{}', 'X-ANSWER: 1')), async ({ port }) => {
        const seen = [];
        for (const path of paths) {
          const url = `http://127.0.0.1:${port}${path}`;
          const response = await fetch(url, { method: 'POST', headers, body: json });
          seen.push([response.url, response.status, [...response.headers], await response.text()]);
        }
        return seen;
      }),
  },
  {
    name: 'the path of an LLM call, both directions at once',
    interactive: true,
    run: () =>
      against(
        (socket, text) => {
          if (text.endsWith('5\r\nfirst\r\n')) socket.write('HTTP/1.1 200 OK\r\n\r\nhead');
          if (text.endsWith('0\r\n\r\n')) socket.end(' and tail');
        },
        ({ port }) => {
          const url = `http://127.0.0.1:${port}/v1/channels/1/messages`;
          const sending = request(url, { ...post, headers: { 'Content-Type': 'text/plain' } });
          sending.on('response', () => sending.end('last'));
          sending.write('first');
          return watch(sending);
        },
      ),
  },
];
