import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { until } from '../../support/until.ts';

let simulator: Simulator;
let client: Anthropic;

const speed = { validating: 0, running: 10, finalizing: 0, cancelling: 5 };
const { clock, skipHours } = patientClock();
const hour = 3_600_000;

beforeAll(async () => {
  simulator = await startSimulator({ speed, clock });
  client = newClient('sk-ant-one');
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

function newClient(apiKey: string): Anthropic {
  return new Anthropic({ apiKey, baseURL: simulator.baseUrl('anthropic'), maxRetries: 0 });
}

type Item = Anthropic.Messages.BatchCreateParams.Request;

function item(customId: string, content: string, change: object = {}): Item {
  const messages = [{ role: 'user' as const, content }];
  return {
    custom_id: customId,
    params: { model: 'claude-test', max_tokens: 64, messages, ...change } as Item['params'],
  };
}

const create = (...requests: Item[]) => client.messages.batches.create({ requests });

async function untilEnded(id: string): Promise<Anthropic.Messages.MessageBatch> {
  await expect
    .poll(async () => (await client.messages.batches.retrieve(id)).processing_status)
    .toBe('ended');
  return client.messages.batches.retrieve(id);
}

async function results(id: string) {
  const found: Anthropic.Messages.MessageBatchIndividualResponse[] = [];
  for await (const line of await client.messages.batches.results(id)) found.push(line);
  return found;
}

async function run(...requests: Item[]) {
  const batch = await untilEnded((await create(...requests)).id);
  const lines = await results(batch.id);
  return { batch, lines, byId: new Map(lines.map((line) => [line.custom_id, line.result])) };
}

function textOf(result: Anthropic.Messages.MessageBatchResult | undefined): string {
  if (result?.type !== 'succeeded') throw new Error(`not succeeded: ${result?.type}`);
  const block = result.message.content[0];
  return block?.type === 'text' ? block.text : '';
}

describe('the ordinary course of an Anthropic batch', () => {
  it('goes from create to shuffled results that match by custom id', async () => {
    const items = Array.from({ length: 30 }, (_, index) => item(`r-${index}`, `q${index}`));
    const created = await create(...items);
    expect(created).toMatchObject({
      type: 'message_batch',
      processing_status: 'in_progress',
      request_counts: { processing: 30, succeeded: 0 },
      results_url: null,
      ended_at: null,
    });
    const batch = await untilEnded(created.id);
    expect(batch.request_counts).toEqual({
      processing: 0,
      succeeded: 30,
      errored: 0,
      canceled: 0,
      expired: 0,
    });
    expect(batch.results_url).toBe(
      `${simulator.url}/anthropic/v1/messages/batches/${batch.id}/results`,
    );
    const lines = await results(batch.id);
    const ids = lines.map((line) => line.custom_id);
    expect(ids).not.toEqual(items.map((each) => each.custom_id));
    expect(new Set(ids)).toEqual(new Set(items.map((each) => each.custom_id)));
    for (const { custom_id: id, result } of lines) {
      expect(textOf(result)).toMatch(`answer to "q${id.slice(2)}" from claude-test (execution `);
      expect(result).toMatchObject({ message: { usage: { service_tier: 'batch' } } });
    }
    expect(simulator.meter).toMatchObject({ total: 30, batched: 30, realtime: 0 });
  });

  it('tells nothing of its progress before the end', async () => {
    simulator.configure({ speed: { running: hour } });
    const { id } = await create(...['a', 'b', 'c', 'd'].map((each) => item(each, 'x')));
    await until(() => {
      skipHours(0.1);
      return simulator.meter.total > 1;
    }, 'the first answers');
    const { request_counts: counts } = await client.messages.batches.retrieve(id);
    expect(counts).toMatchObject({ processing: 4, succeeded: 0 });
    await expect(client.messages.batches.results(id)).rejects.toThrow(/No batch `results_url`/);
  });

  it('lists batches newest first and in both directions', async () => {
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.unshift((await create(item('a', 'x'))).id);
    const all: string[] = [];
    for await (const batch of client.messages.batches.list({ limit: 2 })) all.push(batch.id);
    expect(all).toEqual(ids);
    const newer = await client.messages.batches.list({ limit: 2, before_id: ids[3] as string });
    expect(newer.data.map(({ id }) => id)).toEqual(ids.slice(1, 3));
    expect(newer.has_more).toBe(true);
  });

  it('cancels a batch', async () => {
    simulator.hold();
    const { id } = await create(item('a', 'x'), item('b', 'y'));
    const canceling = await client.messages.batches.cancel(id);
    expect(canceling.processing_status).toBe('canceling');
    expect(canceling.cancel_initiated_at).not.toBeNull();
    const batch = await untilEnded(id);
    expect(batch.request_counts).toMatchObject({ processing: 0, canceled: 2 });
    expect((await results(id)).map((line) => line.result)).toEqual([
      { type: 'canceled' },
      { type: 'canceled' },
    ]);
  });

  it('cancels a batch that has hardly begun', async () => {
    simulator.configure({ speed: { validating: hour } });
    const { id } = await create(item('a', 'x'), item('b', 'y'));
    await client.messages.batches.cancel(id);
    expect((await untilEnded(id)).request_counts).toMatchObject({ canceled: 2 });
    expect(await results(id)).toHaveLength(2);
    expect(simulator.meter.total).toBe(0);
  });

  it('deletes a batch only after its end', async () => {
    simulator.hold();
    const { id } = await create(item('a', 'x'));
    await expect(client.messages.batches.delete(id)).rejects.toThrow(Anthropic.BadRequestError);
    simulator.release();
    await untilEnded(id);
    expect(await client.messages.batches.delete(id)).toEqual({ id, type: 'message_batch_deleted' });
    await expect(client.messages.batches.retrieve(id)).rejects.toThrow(Anthropic.NotFoundError);
  });
});

describe('what Anthropic refuses', () => {
  it('needs a valid key and a version', async () => {
    await expect(newClient('invalid').messages.batches.list()).rejects.toThrow(
      Anthropic.AuthenticationError,
    );
    const url = `${simulator.baseUrl('anthropic')}/v1/messages/batches`;
    const response = await fetch(url, { headers: { 'x-api-key': 'sk-ant-one' } });
    expect(response.status).toBe(400);
    expect(response.headers.get('request-id')).toMatch(/^req_/);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error' },
      request_id: response.headers.get('request-id'),
    });
  });

  it.each<[string, Item[]]>([
    ['no requests', []],
    ['a bad custom id', [item('not good', 'x')]],
    ['a long custom id', [item('x'.repeat(65), 'x')]],
    ['a custom id used twice', [item('a', 'x'), item('a', 'y')]],
    ['a surplus field beside the params', [{ ...item('a', 'x'), betas: [] } as Item]],
  ])('refuses a create with %s', async (_what, requests) => {
    await expect(create(...requests)).rejects.toThrow(Anthropic.BadRequestError);
    expect((await client.messages.batches.list()).data).toEqual([]);
  });

  it('refuses too large a body and too full a queue', async () => {
    simulator.configure({
      limits: { anthropic: { bytesPerBatch: 1000, queuedRequests: 2, retryAfterSeconds: 3 } },
    });
    await expect(create(item('a', 'x'.repeat(2000)))).rejects.toThrow(
      Anthropic.ContentTooLargeError,
    );
    simulator.hold();
    await create(item('a', 'x'), item('b', 'x'));
    const refused: InstanceType<typeof Anthropic.APIError> = await create(item('c', 'x')).catch(
      (error) => error,
    );
    expect(refused).toBeInstanceOf(Anthropic.RateLimitError);
    expect(refused.headers?.get('retry-after')).toBe('3');
  });

  it('judges the items only at the end', async () => {
    const { batch, byId } = await run(
      item('good', 'x'),
      item('stream', 'x', { stream: true }),
      item('zero', 'x', { max_tokens: 0 }),
      item('fast', 'x', { speed: 'fast' }),
      item('faster', 'x', { fallbacks: [{ model: 'b', speed: 'fast' }] }),
      item('thread', 'x', { thread: { type: 'create' } }),
      item('betas', 'x', { betas: ['a'] }),
      item('modelless', 'x', { model: undefined }),
      item('wordless', 'x', { messages: undefined }),
    );
    expect(batch.request_counts).toMatchObject({ succeeded: 1, errored: 8 });
    for (const id of [
      'stream',
      'zero',
      'fast',
      'faster',
      'thread',
      'betas',
      'modelless',
      'wordless',
    ]) {
      expect(byId.get(id)).toMatchObject({
        type: 'errored',
        error: { type: 'error', error: { type: 'invalid_request_error' } },
      });
    }
    expect(simulator.meter).toMatchObject({ total: 1, failed: 8 });
  });

  it('attributes a whole batch to a user profile, and refuses requests of another', async () => {
    const requests = ['uprof_1', 'uprof_2', undefined].map((profile, at) =>
      item(`r-${at}`, 'x', { user_profile_id: profile }),
    );
    const { id } = await client.messages.batches.create({ requests, user_profile_id: 'uprof_1' });
    const { request_counts: counts } = await untilEnded(id);
    expect(counts).toMatchObject({ succeeded: 2, errored: 1 });
  });

  it('archives results after their time', async () => {
    simulator.configure({ resultsKept: 29 * 24 * hour });
    const { id } = await create(item('a', 'x'));
    expect(await untilEnded(id)).toMatchObject({ archived_at: null });
    skipHours(29 * 24);
    const batch = await client.messages.batches.retrieve(id);
    expect(batch).toMatchObject({ archived_at: expect.any(String), results_url: null });
    await expect(client.messages.batches.results(id)).rejects.toThrow(/No batch `results_url`/);
  });
});

describe('markers and scripts for Anthropic', () => {
  it('shapes single results', async () => {
    const { byId, lines } = await run(
      item('busy', '[[status 529]]'),
      item('dead', '[[status 0]]'),
      item('old', '[[expired]]'),
      item('gone', '[[canceled]]'),
      item('lost', '[[missing]]'),
      item('twice', '[[double]]'),
      item('stranger', '[[foreign]]'),
      item('once', '[[once status 500]]'),
    );
    expect(byId.get('busy')).toMatchObject({ error: { error: { type: 'overloaded_error' } } });
    expect(byId.get('dead')).toMatchObject({ error: { error: { type: 'api_error' } } });
    expect(byId.get('old')).toEqual({ type: 'expired' });
    expect(byId.get('gone')).toEqual({ type: 'canceled' });
    expect(byId.has('lost')).toBe(false);
    expect(byId.get('once')?.type).toBe('errored');
    expect(lines.filter((line) => line.custom_id === 'twice')).toHaveLength(2);
    expect(lines.filter((line) => line.custom_id.startsWith('unknown-'))).toHaveLength(1);
    expect((await run(item('once', '[[once status 500]]'))).byId.get('once')?.type).toBe(
      'succeeded',
    );
  });

  it('breaks a line', async () => {
    const { id } = await create(item('a', '[[broken]]'));
    await untilEnded(id);
    await expect(results(id)).rejects.toThrow(SyntaxError);
  });

  it('expires and fails batches, which all end as ended', async () => {
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    simulator.faults.nextBatch({ outcome: 'failed' });
    const expired = await run(item('a', 'x'), item('b', 'x'));
    expect(expired.batch.request_counts).toMatchObject({ succeeded: 1, expired: 1 });
    const failed = await run(item('a', 'x'), item('b', 'x'));
    expect(failed.batch.request_counts).toMatchObject({ errored: 2 });
  });
});

describe('faults and quirks of Anthropic', () => {
  it('accepts a create whose answer is lost', async () => {
    simulator.faults.add({ path: '/v1/messages/batches', action: { kind: 'lost' } });
    await expect(create(item('a', 'x'))).rejects.toThrow(Anthropic.APIConnectionError);
    const { data } = await client.messages.batches.list();
    expect(data).toHaveLength(1);
    await untilEnded(data[0]?.id ?? '');
    expect(simulator.meter.countByCustomId()).toEqual(new Map([['a', 1]]));
  });

  it('keeps keys and workspaces apart', async () => {
    const { id } = await create(item('a', 'x'));
    const stranger = newClient('sk-ant-two');
    expect((await stranger.messages.batches.list()).data).toEqual([]);
    await expect(stranger.messages.batches.retrieve(id)).rejects.toThrow(Anthropic.NotFoundError);
    const elsewhere = client.messages.batches.retrieve(id, { workspace_id: 'wrkspc_2' });
    await expect(elsewhere).rejects.toThrow(Anthropic.NotFoundError);
    expect(JSON.stringify(simulator.requests)).not.toContain('sk-ant');
  });

  it('lags its lists and holds strangers of equal size', async () => {
    simulator.configure({ listLag: hour, foreignBatches: true });
    const created = await create(item('a', 'x'), item('b', 'y'));
    expect((await client.messages.batches.list()).data).toEqual([]);
    skipHours(1);
    const { data } = await client.messages.batches.list();
    expect(data).toHaveLength(2);
    const foreign = data.find(({ id }) => id !== created.id);
    expect(foreign?.created_at).toBe(created.created_at);
    await untilEnded(foreign?.id ?? '');
    const ids = (await results(foreign?.id ?? '')).map((line) => line.custom_id);
    expect(ids).toHaveLength(2);
    expect(ids).not.toContain('a');
    await untilEnded(created.id);
    expect(simulator.meter.total).toBe(2);
  });
});

describe('realtime messages', () => {
  it('answers at once, whole and streamed', async () => {
    const params = item('a', 'hi').params as Anthropic.MessageCreateParamsNonStreaming;
    const message = await client.messages.create(params);
    expect(message.content[0]).toMatchObject({ type: 'text' });
    expect(message.usage.service_tier).toBe('standard');
    const streamed = await client.messages.stream(params).finalMessage();
    expect(streamed.content[0]).toMatchObject({
      text: 'answer to "hi" from claude-test (execution 2)'.replace('2', String(lastExecution())),
    });
    expect(simulator.meter).toMatchObject({ realtime: 2, total: 2 });
    const busy = item('b', '[[status 529]]').params as Anthropic.MessageCreateParamsNonStreaming;
    await expect(client.messages.create(busy)).rejects.toThrow(Anthropic.OverloadedError);
  });

  it('works on a bare host too', async () => {
    const bare = new Anthropic({ apiKey: 'sk', baseURL: simulator.url, maxRetries: 0 });
    const params = item('a', 'hi').params as Anthropic.MessageCreateParamsNonStreaming;
    expect((await bare.messages.create(params)).role).toBe('assistant');
    const response = await fetch(`${simulator.url}/v1/batches`, {
      headers: { authorization: 'Bearer sk' },
    });
    expect(await response.json()).toMatchObject({ object: 'list', data: [] });
  });
});

function lastExecution(): number | undefined {
  return simulator.meter.executions.at(-1)?.n;
}
