import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

/**
 * Voyage has no client of its own for batches: its documentation uses that of OpenAI, with `request_params` as an
 * additional field. That client reads what the simulator says here.
 */
let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  const speed = { validating: 5, running: 10, finalizing: 0, cancelling: 5 };
  simulator = await startSimulator({ speed });
  const baseURL = simulator.baseUrl('voyage');
  client = new OpenAI({ apiKey: 'pa-test', baseURL, maxRetries: 0 });
});
afterAll(() => simulator.close());

const dated = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);

async function newBatch(lines: readonly object[], more: object = {}) {
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  const file = await toFile(Buffer.from(text), 'in.jsonl');
  const { id } = await client.files.create({ file, purpose: 'batch' });
  const body = {
    endpoint: '/v1/embeddings',
    completion_window: '12h',
    input_file_id: id,
    request_params: { model: 'voyage-4-large', input_type: 'document' },
    ...more,
  };
  return client.batches.create(body as unknown as OpenAI.BatchCreateParams);
}

async function untilOver(id: string) {
  const status = async () => (await client.batches.retrieve(id)).status;
  await expect.poll(status).toMatch(/completed|failed|cancelled/);
  return client.batches.retrieve(id);
}

const linesOf = (content: string) =>
  content
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe("Voyage's batches in the simulator", () => {
  it('go from a file to vectors and errors, as the documentation shows them', async () => {
    const created = await newBatch([
      { custom_id: 'r-1', body: { input: ['a', 'b'] } },
      { custom_id: 'r-2', body: { input: ['[[status 500]]'] } },
    ]);
    expect(created).toMatchObject({ object: 'batch', status: 'validating', created_at: dated });
    const batch = await untilOver(created.id);
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    expect(batch).toMatchObject({ completed_at: dated, expected_completion_at: dated });
    const contentOf = async (id = '') => linesOf(await (await client.files.content(id)).text());
    const [answered] = await contentOf(batch.output_file_id ?? '');
    expect(answered).toMatchObject({
      custom_id: 'r-1',
      response: { status_code: 200, body: { object: 'list', data: [{}, {}] } },
      error: null,
    });
    const [failed] = await contentOf(batch.error_file_id ?? '');
    expect(failed).toMatchObject({
      custom_id: 'r-2',
      response: { status_code: 500, message: expect.any(String) },
      error: null,
    });
    expect(failed.response).not.toHaveProperty('body');
  });

  it.each([
    ['no parameters', { request_params: undefined }],
    ['parameters without a model', { request_params: {} }],
    ['texts among them', { request_params: { model: 'm', input: 'a' } }],
    ['another window', { completion_window: '24h' }],
    ['another endpoint', { endpoint: '/v1/chat/completions' }],
    ['a field that nobody knows', { output_expires_after: {} }],
  ])('are refused with %s', async (_what, more) => {
    const before = simulator.batches().length;
    const refused = newBatch([{ custom_id: 'r-1', body: { input: 'a' } }], more);
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    expect(simulator.batches()).toHaveLength(before);
  });

  it('fail where a line holds more than its texts', async () => {
    const { id } = await newBatch([{ custom_id: 'r-1', body: { input: 'a', truncation: true } }]);
    expect((await untilOver(id)).status).toBe('failed');
  });
});
