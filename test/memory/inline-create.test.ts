import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { Clock } from '../../src/base/types.ts';
import { AnthropicBatcher } from '../../src/batchers/anthropic/anthropic-batcher.ts';
import type { Plan } from '../../src/batchers/batcher.ts';
import { createHttpClient } from '../../src/http/client.ts';

const megabyte = 1024 * 1024;
const count = 100;
const bodyBytes = 2 * megabyte;
/** What may be on its way: one group, slices of it, and what the sockets of both sides hold. */
const mostUnderWay = 24 * megabyte;

const clock: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, delay) => setTimeout(callback, delay),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Takes everything, keeps nothing but the count. */
async function startCounter() {
  const counter = { received: 0, url: '' };
  const batch = { id: 'msgbatch_1', processing_status: 'in_progress', results_url: null };
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      counter.received += chunk.length;
    });
    request.on('end', () => response.end(JSON.stringify(batch)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  counter.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return counter;
}

it('a create call of 200 MB is made as fast as it is taken, and never held whole', async () => {
  const counter = await startCounter();
  const http = createHttpClient({ clock, idleTimeout: 30_000 });
  onTestFinished(() => http.close());
  const batcher = new AnthropicBatcher();
  const credentials = () => ({ headers: { 'x-api-key': 'sk-ant-test-key' } });
  const wire = http.wire({ base: counter.url, origins: batcher.origins(counter.url), credentials });
  const route = { endpoint: '/v1/messages', model: 'claude-test', batchHeaders: {} };
  let made = 0;
  let mostAhead = 0;
  const envelope = batcher.envelope(route, 'item-000');
  const lineBytes = envelope.before.length + bodyBytes + envelope.after.length;
  const plan: Plan = {
    token: 'bl_1',
    route,
    count,
    bytes: count * lineBytes,
    completionWindow: '24h',
    settings: {},
    tags: {},
    async *items() {
      for (let at = 0; at < count; at += 1) {
        const id = `item-${String(at).padStart(3, '0')}`;
        made += lineBytes;
        mostAhead = Math.max(mostAhead, made - counter.received);
        yield [{ id, body: `"${'x'.repeat(bodyBytes - 2)}"`, ...batcher.envelope(route, id) }];
      }
    },
  };
  expect(await batcher.create(wire, plan, {})).toMatchObject({ id: 'msgbatch_1' });
  expect(counter.received).toBe(plan.bytes + batcher.frameBytes(count));
  expect(counter.received).toBeGreaterThan(200 * megabyte);
  expect(mostAhead).toBeLessThan(mostUnderWay);
});
