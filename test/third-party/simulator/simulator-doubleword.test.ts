import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  simulator = await startSimulator({ speed });
  client = new OpenAI({
    apiKey: 'sk-one',
    baseURL: simulator.baseUrl('doubleword'),
    maxRetries: 0,
    organization: null,
    project: null,
  });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

function line(id: string, url: string, body: object) {
  return { custom_id: id, method: 'POST', url, body };
}

function chatLine(id: string, content: string, model = 'qwen-test') {
  return line(id, '/v1/chat/completions', { model, messages: [{ role: 'user', content }] });
}

async function upload(lines: readonly object[], name = `${crypto.randomUUID()}.jsonl`) {
  const text = lines.map((one) => `${JSON.stringify(one)}\n`).join('');
  const file = await toFile(Buffer.from(text), name);
  return client.files.create({ purpose: 'batch', file });
}

async function createBatch(lines: readonly object[], metadata: Record<string, string> = {}) {
  const { id } = await upload(lines);
  return client.batches.create({
    input_file_id: id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata,
  });
}

async function untilEnded(id: string) {
  const terminal = ['completed', 'failed', 'cancelled'];
  await expect
    .poll(async () => terminal.includes((await client.batches.retrieve(id)).status))
    .toBe(true);
  return client.batches.retrieve(id);
}

async function content(fileId: string | null | undefined, query = '') {
  const url = `${simulator.baseUrl('doubleword')}/files/${fileId}/content${query}`;
  const response = await fetch(url, { headers: { authorization: 'Bearer sk-one' } });
  const text = await response.text();
  const lines = text === '' ? [] : text.trimEnd().split('\n');
  return { headers: response.headers, lines: lines.map((one) => JSON.parse(one)) };
}

describe('the SDK of OpenAI meets a Doubleword', () => {
  it('that takes endpoints and models in one file, from the upload to the results', async () => {
    const created = await createBatch([
      chatLine('a', 'one'),
      chatLine('b', 'two', 'other-model'),
      line('c', '/v1/embeddings', { model: 'embed-test', input: 'three' }),
      chatLine('d', '[[status 422]]'),
    ]);
    expect(created.status).toBe('validating');
    const batch = await untilEnded(created.id);
    expect(batch).toMatchObject({
      status: 'completed',
      request_counts: { total: 4, completed: 3, failed: 1 },
    });
    const output = await (await client.files.content(batch.output_file_id ?? '')).text();
    expect(output.trimEnd().split('\n')).toHaveLength(3);
    const { lines } = await content(batch.error_file_id);
    expect(lines).toMatchObject([{ custom_id: 'd', response: null, error: { code: null } }]);
    expect(JSON.parse(lines[0].error.message)).toMatchObject({
      type: 'NonRetriableHttpStatus',
      details: { status: 422, body: expect.stringContaining('simulated status') },
    });
    expect(simulator.meter.executions.map(({ model }) => model).sort()).toEqual([
      'embed-test',
      'other-model',
      'qwen-test',
    ]);
  });

  it('that shows results while the batch runs', async () => {
    simulator.faults.nextBatch({ stuckIn: 'in_progress' });
    const { id } = await createBatch([chatLine('a', 'one'), chatLine('b', 'two')]);
    await expect.poll(() => simulator.meter.total).toBe(2);
    const { status, output_file_id: file } = await client.batches.retrieve(id);
    expect(status).toBe('in_progress');
    const first = await content(file, '?limit=1');
    expect(first.lines).toHaveLength(1);
    expect(first.headers.get('x-last-line')).toBe('1');
    expect(first.headers.get('x-incomplete')).toBe('true');
    const second = await content(file, '?offset=1');
    expect(second.lines).toHaveLength(1);
    expect(second.lines[0].custom_id).not.toBe(first.lines[0].custom_id);
    await client.batches.cancel(id);
    const ended = await untilEnded(id);
    expect((await content(ended.output_file_id)).headers.get('x-incomplete')).toBe('false');
  });

  it('that fails a batch of failed lines, which can be read', async () => {
    const { id } = await createBatch([chatLine('a', '[[status 400]]')]);
    const batch = await untilEnded(id);
    expect(batch.status).toBe('failed');
    expect((await content(batch.error_file_id)).lines).toHaveLength(1);
  });

  it('that checks lines at the upload', async () => {
    const bad = { ...chatLine('b', 'x'), method: 'GET' };
    await expect(upload([chatLine('a', 'x'), bad])).rejects.toThrow(/400 .*line 2/);
    await expect(upload([])).rejects.toThrow(OpenAI.BadRequestError);
    simulator.configure({ models: ['another'] });
    await expect(upload([chatLine('a', 'x')])).rejects.toThrow(OpenAI.PermissionDeniedError);
    simulator.configure({ limits: { doubleword: { bytesPerBatch: 10 } } });
    await expect(upload([chatLine('a', 'x')])).rejects.toMatchObject({ status: 413 });
  });

  it('that takes no second file of one name, as long as there is the first', async () => {
    const { id } = await upload([chatLine('a', 'x')], 'one.jsonl');
    const again = upload([chatLine('a', 'x')], 'one.jsonl');
    await expect(again).rejects.toThrow(/already exists/);
    await client.files.delete(id);
    expect(await upload([chatLine('a', 'x')], 'one.jsonl')).toHaveProperty('id');
  });

  it('that searches its batches, cancels and deletes them', async () => {
    simulator.hold();
    const one = await createBatch([chatLine('a', 'x')], { run: 'first', created_by: 'me' });
    const two = await createBatch([chatLine('a', 'x')], { run: 'second' });
    expect(one.metadata).toEqual({ run: 'first' });
    const search = (text: string) => client.batches.list({}, { query: { search: text } });
    expect((await search('second')).data.map(({ id }) => id)).toEqual([two.id]);
    expect((await search('nobody')).data).toEqual([]);
    expect((await client.batches.cancel(one.id)).status).toBe('cancelling');
    const cancelled = await untilEnded(one.id);
    expect(cancelled.status).toBe('cancelled');
    expect((await content(cancelled.output_file_id)).lines).toEqual([]);
    await client.delete(`/batches/${one.id}`);
    await expect(client.batches.retrieve(one.id)).rejects.toThrow(OpenAI.NotFoundError);
    const { id } = await upload([chatLine('a', 'x')]);
    expect(await client.files.delete(id)).toMatchObject({ id, deleted: true });
  });
});
