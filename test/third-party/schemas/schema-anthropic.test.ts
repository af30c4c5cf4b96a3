import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { batchify } from '../../../src/core.ts';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { anthropicFaults } from '../../schemas/anthropic-referee.ts';
import { askClaude } from '../../support/ask.ts';
import { type RecordingProxy, startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { until } from '../../support/until.ts';

/*
 * Our client and our simulator are both written by us, from the same page: a mistake in reading it would be in
 * both. Here the types that Anthropic publishes judge the traffic between them.
 */

let simulator: Simulator;
let proxy: RecordingProxy;
let client: Anthropic;

beforeAll(async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  simulator = await startSimulator({ speed });
});
beforeEach(async () => {
  simulator.reset();
  proxy = await startRecordingProxy(simulator.url);
  const baseURL = `${proxy.url}/anthropic`;
  client = new Anthropic({ apiKey: 'sk-ant-ours', baseURL, maxRetries: 0 });
  return () => proxy.close();
});
afterAll(() => simulator.close());

const faults = () => anthropicFaults(proxy.requests, '/anthropic');

/** Which operations were spoken: a judge of nothing finds no fault. */
function spoken(): readonly string[] {
  // A scope that closes gives up a poll that is under way.
  const answered = proxy.requests.filter(({ reply }) => reply !== undefined);
  const names = answered.map(({ method, path, reply }) => {
    const [short = ''] = path.replace(/msgbatch_\w+/, '<id>').split('?');
    return `${method} ${short.replace('/anthropic/v1', '')} ${reply?.status}`;
  });
  return [...new Set(names)].sort();
}

const item = (customId: string, content: string, change: object = {}) => ({
  custom_id: customId,
  params: {
    model: 'claude-test',
    max_tokens: 64,
    messages: [{ role: 'user' as const, content }],
    ...change,
  },
});
const weather = { name: 'weather', input_schema: { type: 'object' as const, properties: {} } };

it('what batchling says and hears is right by the types of the official client', async () => {
  simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
  const hosts = { [client.baseURL]: 'anthropic' } as const;
  const options = { store: ':memory:', window: '20ms', poll: '10ms', hosts } as const;
  const scope = batchify(options);
  const own = client.withOptions({ fetch: scope.fetch });
  const prompts = ['one', 'two', 'three [[status 400]]', 'four', 'five [[once status 529]]'];
  await Promise.allSettled(prompts.map((prompt) => askClaude(own, prompt)));
  simulator.hold();
  const { submitted } = scope.stats.batches;
  const waiting = askClaude(own, 'six').catch((error: Error) => error);
  await until(() => scope.stats.batches.submitted > submitted, 'the last batch');
  await scope.cancel();
  await waiting;
  await scope.close();
  expect(faults()).toEqual([]);
  expect(spoken()).toEqual([
    'GET /messages/batches 200',
    'GET /messages/batches/<id> 200',
    'GET /messages/batches/<id>/results 200',
    'POST /messages/batches 200',
    'POST /messages/batches/<id>/cancel 200',
  ]);
});

it('what the simulator says to the official client is right by the types of that client', async () => {
  const { batches } = client.messages;
  const { id } = await batches.create({
    requests: [
      item('a', 'hi'),
      item('b', 'hi', { tools: [weather], tool_choice: { type: 'any' } }),
      item('c', '[[status 429]]'),
      item('d', '[[expired]]'),
      item('e', '[[canceled]]'),
      item('f', 'hi', { max_tokens: 0 }),
    ],
  });
  await expect.poll(async () => (await batches.retrieve(id)).processing_status).toBe('ended');
  for await (const _ of await batches.results(id));
  await batches.list({ limit: 1 });
  await batches.delete(id);
  await expect(batches.retrieve(id)).rejects.toThrow(Anthropic.NotFoundError);
  await expect(batches.create({ requests: [] })).rejects.toThrow(Anthropic.BadRequestError);
  simulator.hold();
  const cancelled = await batches.create({ requests: [item('a', 'hi')] });
  await batches.cancel(cancelled.id);
  await client.messages.create(item('a', 'hi').params);
  expect(faults()).toEqual([]);
  expect(spoken()).toContain('DELETE /messages/batches/<id> 200');
  expect(spoken()).toContain('POST /messages 200');
});

it('a judge who finds nothing wrong has looked', () => {
  const path = '/anthropic/v1/messages/batches';
  const reply = { status: 200, type: 'application/json', body: '{"id":"x","surplus":1}' };
  const create = { method: 'POST', path, type: reply.type, body: '{"requests":1}', reply };
  const found = anthropicFaults(
    [create, { ...create, path: '/anthropic/v1/batches' }],
    '/anthropic',
  );
  expect(found).toEqual([
    'POST /v1/batches: no such operation',
    expect.stringContaining("Type 'number' is not assignable to type 'Request[]'"),
    expect.stringContaining(`'"surplus"' does not exist in type 'MessageBatch'`),
  ]);
});
