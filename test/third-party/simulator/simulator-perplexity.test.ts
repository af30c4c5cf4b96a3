import Perplexity from '@perplexity-ai/perplexity_ai';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

/**
 * Files and batches of Perplexity have the shapes of OpenAI's, and its own SDK has no client for them yet: that of
 * OpenAI reads them here. Answers are read by Perplexity's own.
 */
let simulator: Simulator;
let client: OpenAI;

beforeAll(async () => {
  const speed = { validating: 5, running: 10, finalizing: 0, cancelling: 5 };
  simulator = await startSimulator({ speed });
  const baseURL = simulator.baseUrl('perplexity');
  client = new OpenAI({ apiKey: 'pplx-test', baseURL, maxRetries: 0 });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

const line = (custom_id: string, body: object) => ({
  ...{ custom_id, method: 'POST', url: '/v1/agent' },
  body: { input: 'hello', ...body },
});

async function upload(lines: readonly object[], more: object = {}): Promise<string> {
  const text = lines.map((one) => JSON.stringify(one)).join('\n');
  const file = await toFile(Buffer.from(text), 'in.jsonl');
  return (await client.files.create({ file, purpose: 'batch', ...more })).id;
}

function newBatch(input_file_id: string, more: object = {}, key = 'one') {
  const body = { input_file_id, endpoint: '/v1/agent', completion_window: '24h', ...more };
  const headers = { 'Idempotency-Key': key };
  return client.batches.create(body as unknown as OpenAI.BatchCreateParams, { headers });
}

async function untilOver(id: string) {
  const status = async () => (await client.batches.retrieve(id)).status;
  await expect.poll(status).toMatch(/completed|failed|cancelled/);
  return client.batches.retrieve(id);
}

async function linesOf(id: string | null | undefined) {
  const text = await (await client.files.content(id ?? '')).text();
  return text
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one));
}

describe("Perplexity's batches in the simulator", () => {
  it('go from a file to answers and errors', async () => {
    const file = await upload([
      line('a', { model: 'perplexity/sonar' }),
      line('b', { model: 'perplexity/sonar', input: '[[status 400]]' }),
    ]);
    const batch = await untilOver((await newBatch(file)).id);
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    const [answered] = await linesOf(batch.output_file_id);
    expect(answered.response.body).toMatchObject({ object: 'response', status: 'completed' });
    const [failed] = await linesOf(batch.error_file_id);
    expect(failed).toMatchObject({ custom_id: 'b', response: { status_code: 400 } });
  });

  it('are made once for a key, and can be listed and cancelled', async () => {
    simulator.hold();
    const file = await upload([line('a', { preset: 'pro-search' })]);
    const { id } = await newBatch(file);
    expect((await newBatch(file)).id).toBe(id);
    const other = await newBatch(file, {}, 'two');
    const listed = (await client.batches.list()).data.map((batch) => batch.id);
    expect(listed).toEqual([other.id, id]);
    expect((await client.batches.cancel(id)).status).toBe('cancelling');
    expect((await untilOver(id)).status).toBe('cancelled');
  });

  it.each([
    ['a line without a model', [line('a', { model: 'm' }), line('b', {})], {}, 'line 2'],
    ['a line for another endpoint', [{ ...line('a', { model: 'm' }), url: '/v1/x' }], {}, 'line 1'],
    [
      'a life',
      [line('a', { model: 'm' })],
      { expires_after: { anchor: 'created_at', seconds: 3600 } },
      'expires_after',
    ],
  ])('take no file with %s', async (_what, lines, more, told) => {
    const refused = upload(lines, more);
    await expect(refused).rejects.toThrow(OpenAI.BadRequestError);
    await expect(refused).rejects.toThrow(told);
  });

  it.each([
    ['a life of its output', { output_expires_after: { anchor: 'created_at', seconds: 3600 } }],
    ['another endpoint', { endpoint: '/v1/chat/completions' }],
  ])('take no create with %s', async (_what, more) => {
    const file = await upload([line('a', { model: 'm' })]);
    await expect(newBatch(file, more)).rejects.toThrow(OpenAI.BadRequestError);
  });
});

it("Perplexity's SDK reads what an agent answers at once, whole and streamed", async () => {
  const baseURL = simulator.baseUrl('perplexity').replace(/\/v1$/, '');
  const perplexity = new Perplexity({ apiKey: 'pplx-test', baseURL, maxRetries: 0 });
  const { usage, output_text: text } = await perplexity.responses.create({
    preset: 'pro-search',
    input: 'hello',
  });
  expect(text).toContain('"hello"');
  expect(usage?.cost).toMatchObject({ currency: 'USD', total_cost: expect.any(Number) });
  const stream = await perplexity.responses.create({ model: 'm', input: 'hello', stream: true });
  const types = new Set<string>();
  for await (const event of stream) types.add(event.type);
  expect(types).toContain('response.output_text.delta');
  expect(types).toContain('response.completed');
});
