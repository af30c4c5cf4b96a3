import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stats } from '../../src/index.ts';
import { resultOf, runProgram } from '../support/processes/run-program.ts';
import { openStage, type Stage } from '../support/stage.ts';

const count = 300;
const diesAfter = 100;
const atOnce = 8;
const time = { epoch: Date.now(), speed: 200 };

let stage: Stage;
let server: Server;
/** How often the server was asked each question. */
const asked = new Map<string, number>();
beforeAll(async () => {
  stage = await openStage();
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const isChat = request.url === '/v1/chat/completions';
    response.writeHead(isChat ? 200 : 404, { 'content-type': 'application/json' });
    if (!isChat) return response.end('{}');
    const content = String(JSON.parse(body).messages[0].content);
    asked.set(content, (asked.get(content) ?? 0) + 1);
    const message = { role: 'assistant', content: `answer to "${content}"` };
    return response.end(JSON.stringify({ choices: [{ index: 0, message }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close().closeAllConnections();
  await stage.close();
});

it('a program that is killed in the lane of a server without batches pays for what was on the wire', async () => {
  const { port } = server.address() as AddressInfo;
  const baseURL = `http://127.0.0.1:${port}/v1`;
  const store = stage.newStore();
  const options = { store, hosts: { [baseURL]: 'openai' }, window: '20ms' };
  const program = { count, baseURL, time, options };
  const first = await runProgram('ask-in-a-lane', { ...program, diesAfter });
  expect(first.code).toBeNull();
  const { right, stats } = await resultOf<{ right: number; stats: Stats }>(
    'ask-in-a-lane',
    program,
  );
  expect(right).toBe(count);
  expect(stats.fromLedger).toBeGreaterThanOrEqual(diesAfter);
  expect(stats.fromLedger + stats.realtime).toBe(count);
  const twice = [...asked.values()].filter((times) => times > 1).length;
  expect(asked.size).toBe(count);
  expect(twice).toBeLessThanOrEqual(stats.maybePaidTwice);
  expect(stats.maybePaidTwice).toBeLessThanOrEqual(atOnce);
});
