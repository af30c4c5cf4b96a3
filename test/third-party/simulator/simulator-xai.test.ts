import { createXai } from '@ai-sdk/xai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

/** xAI publishes no client for Node whose batches could be run here; the AI SDK's provider has one. */
let simulator: Simulator;

const speed = { validating: 5, running: 10, finalizing: 0, cancelling: 5 };

beforeAll(async () => {
  simulator = await startSimulator({ speed });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

function client(apiKey = 'xai-one') {
  return createXai({ apiKey, baseURL: simulator.baseUrl('xai') }).experimental_batch();
}

type Batches = ReturnType<typeof client>;
type Requests = Parameters<Batches['doStartBatch']>[0]['requests'];

function requestsOf(prompts: readonly string[], modelId = 'grok-4.3'): Requests {
  return prompts.map((text, index) => ({
    type: 'text',
    id: `r-${index}`,
    modelId,
    options: { prompt: [{ role: 'user', content: [{ type: 'text', text }] }] },
  }));
}

async function untilOver(batches: Batches, batchId: string) {
  await expect
    .poll(async () => (await batches.doGetBatchStatus({ batchId })).status)
    .not.toBe('pending');
  return batches.doGetBatchStatus({ batchId });
}

async function resultsOf(batches: Batches, batchId: string) {
  const results = [];
  for await (const result of await batches.doGetBatchResults({ batchId })) results.push(result);
  return results;
}

describe("the AI SDK's client for xAI, against the simulator", () => {
  it('goes from upload to results that it understands', async () => {
    const batches = client();
    const prompts = ['one', 'two', 'three'];
    const { batchId, status, providerMetadata } = await batches.doStartBatch({
      requests: requestsOf(prompts),
    });
    expect(status).toBe('pending');
    expect(providerMetadata?.xai?.inputFileId).toMatch(/^file_/);
    expect(await untilOver(batches, batchId)).toMatchObject({
      status: 'completed',
      requestCounts: { total: 3, pending: 0, completed: 3, failed: 0 },
    });
    const results = await resultsOf(batches, batchId);
    expect(results.map(({ id }) => id)).toEqual(['r-0', 'r-1', 'r-2']);
    for (const [at, result] of results.entries()) {
      expect(result).toMatchObject({ type: 'text', status: 'succeeded' });
      expect(JSON.stringify(result)).toContain(`answer to \\"${prompts[at]}\\"`);
    }
    expect(simulator.meter.total).toBe(3);
  });

  it('pages through more results than fit on one page', async () => {
    const batches = client();
    const requests = requestsOf(Array.from({ length: 1_234 }, (_, at) => `q${at}`));
    const { batchId } = await batches.doStartBatch({ requests });
    await untilOver(batches, batchId);
    const ids = (await resultsOf(batches, batchId)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(1_234);
  });

  it('tells failed, cancelled and hidden errors apart', async () => {
    const batches = client();
    const prompts = ['[[status 400]]', '[[status 503 overloaded]]', '[[empty]]', 'fine'];
    const { batchId } = await batches.doStartBatch({ requests: requestsOf(prompts) });
    await untilOver(batches, batchId);
    const results = await resultsOf(batches, batchId);
    expect(results).toMatchObject([
      { status: 'failed', error: { code: '3', message: 'simulated status 400' } },
      { status: 'failed', error: { code: 'overloaded', message: 'simulated status 503' } },
      { status: 'failed', error: { code: 'invalid_response' } },
      { status: 'succeeded' },
    ]);
  });

  it('shows a batch that xAI has cancelled, with the message', async () => {
    simulator.configure({ models: ['grok-4.3'] });
    const batches = client();
    const { batchId } = await batches.doStartBatch({ requests: requestsOf(['a'], 'grok-4.5') });
    const message =
      'JSONL file validation failed: Model grok-4.5 is not supported for batch processing';
    expect(await untilOver(batches, batchId)).toMatchObject({
      status: 'failed',
      error: { message, code: 'batch_cancelled' },
    });
    expect(simulator.meter.total).toBe(0);
  });

  it('cancels, and reads what had finished', async () => {
    simulator.hold();
    const batches = client();
    const { batchId } = await batches.doStartBatch({ requests: requestsOf(['a', 'b']) });
    await batches.doCancelBatch?.({ batchId });
    await expect.poll(() => simulator.batches()[0]?.phase).toBe('ended');
    expect(await batches.doGetBatchStatus({ batchId })).toMatchObject({
      status: 'failed',
      requestCounts: { total: 2, pending: 0, completed: 0, failed: 2 },
    });
    expect(await resultsOf(batches, batchId)).toMatchObject([{ id: 'r-0' }, { id: 'r-1' }]);
  });

  it('lists the batches of its own key, page by page', async () => {
    const batches = client();
    for (const prompt of ['a', 'b', 'c']) {
      await batches.doStartBatch({ requests: requestsOf([prompt]) });
    }
    await client('xai-two').doStartBatch({ requests: requestsOf(['foreign']) });
    const first = await batches.doListBatches?.({ limit: 2 });
    expect(first?.batches).toHaveLength(2);
    const rest = await batches.doListBatches?.({ limit: 2, cursor: first?.nextCursor as string });
    expect(rest?.batches).toHaveLength(1);
    expect(rest?.nextCursor).toBeUndefined();
  });

  it('is refused as xAI refuses: a wrong key, an unknown batch', async () => {
    const wrong = client('invalid').doStartBatch({ requests: requestsOf(['a']) });
    await expect(wrong).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringContaining('Incorrect API key'),
    });
    const unknown = client().doGetBatchStatus({ batchId: 'batch_nobody' });
    await expect(unknown).rejects.toMatchObject({ statusCode: 404 });
  });
});

describe('what no client of xAI sends', () => {
  const headers = { authorization: 'Bearer xai-one', 'content-type': 'application/json' };

  it('is refused: unknown fields, a purpose, a cancel with a slash', async () => {
    const base = simulator.baseUrl('xai');
    const body = JSON.stringify({ name: 'a', input_file_id: 'file_x', endpoint: '/v1/x' });
    const create = await fetch(`${base}/batches`, { method: 'POST', headers, body });
    expect([create.status, await create.json()]).toMatchObject([
      400,
      { error: 'Unknown field: endpoint' },
    ]);
    const form = new FormData();
    form.set('purpose', 'batch');
    form.set('file', new File(['{}'], 'a.jsonl'));
    const { authorization } = headers;
    const upload = await fetch(`${base}/files`, {
      method: 'POST',
      headers: { authorization },
      body: form,
    });
    expect(upload.status).toBe(400);
    const cancel = await fetch(`${base}/batches/batch_x/cancel`, { method: 'POST', headers });
    expect(cancel.status).toBe(404);
  });

  it('is not needed: files are read and deleted by their id', async () => {
    const base = simulator.baseUrl('xai');
    const { providerMetadata } = await client().doStartBatch({ requests: requestsOf(['a']) });
    const at = `${base}/files/${providerMetadata?.xai?.inputFileId}`;
    expect((await fetch(at, { headers })).status).toBe(200);
    const removed = await fetch(at, { method: 'DELETE', headers });
    expect(await removed.json()).toMatchObject({ deleted: true });
    expect((await fetch(at, { headers })).status).toBe(404);
  });
});
