import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../../src/index.ts';
import { chatRequest } from '../../support/ask.ts';
import { type HoldingServer, startHoldingServer } from '../../support/servers/holding-server.ts';
import { received } from '../../support/servers/http-exchange.ts';
import { soon, until } from '../../support/until.ts';

let server: HoldingServer;
let scope: BatchingContext;

beforeEach(async () => {
  server = await startHoldingServer();
  // Everything goes out as a realtime call.
  scope = batchify({
    store: ':memory:',
    hosts: { [server.baseUrl]: 'openai' },
    window: '5ms',
    minBatch: 100,
  });
});
afterEach(() => server.close());

type Ask = (prompt: string) => Promise<number | undefined>;

const byFetch: Ask = async (prompt) =>
  (await fetch(`${server.baseUrl}/chat/completions`, chatRequest(prompt))).status;

const byNodeHttp: Ask = async (prompt) => {
  const { body, ...options } = chatRequest(prompt);
  const { status } = await received(
    request(`${server.baseUrl}/chat/completions`, options).end(body),
  );
  return status;
};

describe.each<[string, Ask]>([
  ['fetch', byFetch],
  ['node:http', byNodeHttp],
])('a realtime call by %s', (_name, ask) => {
  it('that its client tries again is told with its endpoint and model each time', async () => {
    const captured: unknown[] = [];
    const answered: unknown[] = [];
    scope.on('call:captured', (event) => captured.push(event));
    scope.on('call:answered', (event) => answered.push(event));
    for (const status of [500, 200]) {
      const asked = scope.run(() => ask('tried again'));
      await until(() => server.held.length === 1, 'the call');
      server.answer(status);
      expect(await soon(asked)).toBe(status);
    }
    await scope.close();
    const facts = { provider: 'openai', endpoint: '/v1/chat/completions', model: 'gpt-test' };
    expect(captured).toEqual([facts, facts]);
    expect(answered).toEqual([
      { ...facts, status: 500, source: 'realtime' },
      { ...facts, status: 200, source: 'realtime' },
    ]);
  });
});
