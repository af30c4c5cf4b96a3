import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

let simulator: Simulator;

beforeAll(async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  simulator = await startSimulator({ speed });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

const services = [
  { name: 'deepinfra', window: '24h' },
  { name: 'nebius', window: '24h' },
  { name: 'parasail', window: '24h' },
  { name: 'siliconflow', window: '336h' },
  { name: 'dashscope', window: '14d' },
  { name: 'moonshot', window: '12h' },
  { name: 'zhipu', window: '24h', endpoint: '/v4/chat/completions' },
  { name: 'novita', window: '24h', isBare: true },
  { name: 'ovhcloud', window: '48h' },
  {
    name: 'qianfan',
    window: '1h',
    endpoint: '/v2/chat/completions',
    words: { completed: 'done', cancelling: 'stopping', cancelled: 'stopped' },
  },
];

const usualWords = { completed: 'completed', cancelling: 'cancelling', cancelled: 'cancelled' };

describe.each(services)('the SDK of OpenAI meets $name', (service) => {
  const { name, window, endpoint = '/v1/chat/completions', isBare, words } = service;
  const { completed, cancelling, cancelled } = { ...usualWords, ...words };

  function connect(): OpenAI {
    return new OpenAI({
      apiKey: 'sk-one',
      baseURL: simulator.baseUrl(name),
      maxRetries: 0,
      organization: null,
      project: null,
    });
  }

  function line(id: string, content: string, more: object = {}) {
    const body = { model: 'test-model', messages: [{ role: 'user', content }], ...more };
    return isBare
      ? { custom_id: id, body }
      : { custom_id: id, method: 'POST', url: endpoint, body };
  }

  async function upload(lines: readonly object[]) {
    const text = lines.map((one) => `${JSON.stringify(one)}\n`).join('');
    const file = await toFile(Buffer.from(text), 'batch.jsonl');
    return connect().files.create({ file, purpose: 'batch' });
  }

  async function createBatch(lines: readonly object[], change: object = {}) {
    const { id } = await upload(lines);
    const body = { input_file_id: id, endpoint, completion_window: window, metadata: { k: 'v' } };
    return connect().batches.create({ ...body, ...change } as OpenAI.BatchCreateParams);
  }

  async function untilEnded(id: string) {
    const terminal = [completed, 'failed', 'expired', cancelled];
    const look = async () => (await connect().batches.retrieve(id)).status.toLowerCase();
    await expect.poll(async () => terminal.includes(await look())).toBe(true);
    return connect().batches.retrieve(id);
  }

  async function read(fileId: string | null | undefined) {
    if (!fileId) return [];
    const text = await (await connect().files.content(fileId)).text();
    const lines = text.trimEnd().split('\n');
    return lines.map((one) => JSON.parse(one) as { custom_id: string });
  }

  it('from the upload to the results', async () => {
    const created = await createBatch([line('a', 'one'), line('b', '[[status 400]]')]);
    expect(created).toMatchObject({ object: 'batch', metadata: { k: 'v' } });
    const batch = await untilEnded(created.id);
    expect(batch.status.toLowerCase()).toBe(completed);
    const lines = [...(await read(batch.output_file_id)), ...(await read(batch.error_file_id))];
    expect(lines.map(({ custom_id: id }) => id).sort()).toEqual(['a', 'b']);
    expect(simulator.meter.total).toBe(1);
  });

  it('that lists, cancels and deletes', async () => {
    simulator.hold();
    const one = await createBatch([line('a', 'one')]);
    const two = await createBatch([line('a', 'two')]);
    const listed: string[] = [];
    for await (const batch of connect().batches.list({ limit: 1 })) listed.push(batch.id);
    expect(listed).toEqual([two.id, one.id]);
    expect((await connect().batches.cancel(one.id)).status.toLowerCase()).toBe(cancelling);
    expect((await untilEnded(one.id)).status.toLowerCase()).toBe(cancelled);
    const { id } = await upload([line('a', 'one')]);
    expect(await connect().files.delete(id)).toMatchObject({ id, deleted: true });
  });

  it('that answers at once, too', async () => {
    const messages = [{ role: 'user' as const, content: 'now' }];
    const { choices } = await connect().chat.completions.create({ model: 'test-model', messages });
    expect(choices[0]?.message.content).toContain('"now"');
  });

  it.each([
    ['an unknown field', { nonsense: 1 }],
    ['another window', { completion_window: '30m' }],
    ['an endpoint of nobody', { endpoint: '/v9/chat/completions' }],
  ])('that refuses a create with %s', async (_what, change) => {
    await expect(createBatch([line('a', 'x')], change)).rejects.toThrow(OpenAI.BadRequestError);
  });
});

describe('lines that are refused', () => {
  it.each([
    ['moonshot', '1d', [{ temperature: 1 }]],
    ['moonshot', '1d', [{ top_p: 1 }]],
    ['siliconflow', '24h', [{ messages: [{ role: 'assistant', content: 'x' }] }]],
    ['dashscope', '24h', [{ enable_thinking: true }, {}]],
  ])('by %s', async (name, window, changes) => {
    const client = new OpenAI({ apiKey: 'sk-one', baseURL: simulator.baseUrl(name) });
    const url = '/v1/chat/completions';
    const lines = changes.map((change, index) => {
      const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], ...change };
      return JSON.stringify({ custom_id: `r-${index}`, method: 'POST', url, body });
    });
    const file = await toFile(Buffer.from(lines.join('\n')), 'batch.jsonl');
    const stored = await client.files.create({ file, purpose: 'batch' });
    const body = { input_file_id: stored.id, endpoint: url, completion_window: window };
    const { id } = await client.batches.create(body as OpenAI.BatchCreateParams);
    await expect.poll(async () => (await client.batches.retrieve(id)).status).toBe('failed');
    expect(simulator.meter.total).toBe(0);
  });
});
