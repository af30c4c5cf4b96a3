import type { ApiError, BatchJob, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { vertexClient } from '../../support/programs/parts/vertex-client.ts';

let simulator: Simulator;
let client: GoogleGenAI;

const speed = { validating: 5, running: 10, finalizing: 5, cancelling: 5 };

beforeAll(async () => {
  simulator = await startSimulator({ speed });
  client = vertexClient(simulator.baseUrl('vertex'), 'ya29.one');
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

const model = 'gemini-test';

/** One request to the simulated Cloud Storage, as any client of it would send it. */
async function storage(path: string, init: RequestInit = {}, accessToken = 'ya29.one') {
  const headers = { ...init.headers, authorization: `Bearer ${accessToken}` };
  return fetch(`${simulator.baseUrl('vertex')}${path}`, { ...init, headers });
}

const objectPath = (name: string) => `/storage/v1/b/mine/o/${encodeURIComponent(name)}`;

function line(key: string, text: string): string {
  const request = { contents: [{ role: 'user', parts: [{ text }] }] };
  return JSON.stringify({ key, request });
}

async function createJob(lines: readonly string[], displayName = 'a job'): Promise<BatchJob> {
  const query = `uploadType=media&name=${encodeURIComponent('in/a.jsonl')}`;
  const body = lines.join('\n');
  await storage(`/upload/storage/v1/b/mine/o?${query}`, { method: 'POST', body });
  const config = { displayName, dest: 'gs://mine/out' };
  return client.batches.create({ model, src: 'gs://mine/in/a.jsonl', config });
}

async function untilEnded({ name = '' }: BatchJob): Promise<BatchJob> {
  const ends = /SUCCEEDED|FAILED|CANCELLED|EXPIRED/;
  await expect.poll(async () => (await client.batches.get({ name })).state).toMatch(ends);
  return client.batches.get({ name });
}

interface OutputRow {
  key: string;
  status: string;
  request: unknown;
  response: { candidates?: { content: { parts: { text: string }[] } }[] };
}

async function rowsBelow(prefix: string): Promise<OutputRow[]> {
  const list = await storage(`/storage/v1/b/mine/o?prefix=${encodeURIComponent(prefix)}`);
  const { items = [] } = (await list.json()) as { items?: { name: string }[] };
  const texts = items.map(async ({ name }) =>
    (await storage(`${objectPath(name)}?alt=media`)).text(),
  );
  const lines = (await Promise.all(texts)).flatMap((text) => text.trimEnd().split('\n'));
  return lines.filter((one) => one !== '').map((one) => JSON.parse(one));
}

function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  return promise.then(
    () => {
      throw new Error('It did not fail');
    },
    (error: ApiError) => error,
  );
}

describe('the ordinary course of a job', () => {
  it('goes from an object to rows below its destination', async () => {
    const created = await createJob(['a', 'b', 'c [[status 400]]'].map((text) => line(text, text)));
    expect(created).toMatchObject({
      displayName: 'a job',
      model: `publishers/google/models/${model}`,
      state: 'JOB_STATE_PENDING',
      src: { format: 'jsonl', gcsUri: ['gs://mine/in/a.jsonl'] },
      dest: { format: 'jsonl', gcsUri: 'gs://mine/out' },
    });
    expect(created.name).toMatch(
      /^projects\/\d+\/locations\/us-central1\/batchPredictionJobs\/\d+$/,
    );
    const job = await untilEnded(created);
    expect(job.state).toBe('JOB_STATE_SUCCEEDED');
    expect(job.completionStats).toMatchObject({ successfulCount: '2', failedCount: '1' });
    const rows = await rowsBelow('out/');
    expect(rows).toHaveLength(3);
    for (const { key, status, request, response } of rows) {
      expect(request).toEqual(JSON.parse(line(key, key)).request);
      if (key.startsWith('c')) {
        expect(status).toMatch(/^Bad Request: \{"error":\{"code":400,/);
        expect(response).toEqual({});
      } else {
        expect(status).toBe('');
        const text = response.candidates?.[0]?.content.parts[0]?.text;
        expect(text).toContain(`answer to "${key}" from ${model}`);
      }
    }
    expect(simulator.meter).toMatchObject({ total: 2, failed: 1, batched: 2 });
  });

  it('is listed by pages, and can be filtered by name', async () => {
    for (const name of ['one', 'two', 'three']) await createJob([line('k', 'q')], name);
    const names: (string | undefined)[] = [];
    for await (const job of await client.batches.list({ config: { pageSize: 2 } })) {
      names.push(job.displayName);
    }
    expect(names).toEqual(['three', 'two', 'one']);
    const filtered = await client.batches.list({ config: { filter: 'display_name="two"' } });
    expect(filtered.page.map(({ displayName }) => displayName)).toEqual(['two']);
    const bad = await failureOf(client.batches.list({ config: { filter: 'color=red' } }));
    expect(bad.status).toBe(400);
  });

  it('can be cancelled, and then deleted', async () => {
    simulator.hold();
    const created = await createJob([line('k', 'q')]);
    const name = created.name ?? '';
    expect((await failureOf(client.batches.delete({ name }))).status).toBe(400);
    await client.batches.cancel({ name });
    expect((await untilEnded(created)).state).toBe('JOB_STATE_CANCELLED');
    expect(await rowsBelow('out/')).toEqual([]);
    expect((await client.batches.delete({ name })).done).toBe(true);
    expect((await failureOf(client.batches.get({ name }))).status).toBe(404);
  });

  it('keeps the rows of what ran before it expired', async () => {
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const job = await untilEnded(await createJob([line('a', 'a'), line('b', 'b')]));
    expect(job.state).toBe('JOB_STATE_EXPIRED');
    expect((await rowsBelow('out/')).map(({ key }) => key)).toEqual(['a']);
  });
});

describe('what is refused', () => {
  it.each([
    ['an input that is not there', 'gs://mine/in/none.jsonl', 'no such object'],
    ['a line that is no JSON', 'gs://mine/in/a.jsonl', 'Line 2'],
  ])('is %s, after the create', async (_what, src, reason) => {
    await createJob([line('a', 'a'), '{']);
    const config = { displayName: 'bad', dest: 'gs://mine/out' };
    const job = await untilEnded(await client.batches.create({ model, src, config }));
    expect(job.state).toBe('JOB_STATE_FAILED');
    expect(job.error?.message).toContain(reason);
  });

  it('is a model that is not there', async () => {
    simulator.configure({ models: ['other'] });
    expect((await failureOf(createJob([line('a', 'a')]))).status).toBe(404);
  });

  it('is an object of somebody else, and a key of the Gemini API', async () => {
    await createJob([line('a', 'a')]);
    expect((await storage(objectPath('in/a.jsonl'))).status).toBe(200);
    expect((await storage(objectPath('in/a.jsonl'), {}, 'ya29.two')).status).toBe(403);
    const headers = { 'x-goog-api-key': 'AIza-1' };
    const url = `${simulator.baseUrl('vertex')}${objectPath('in/a.jsonl')}`;
    expect((await fetch(url, { headers })).status).toBe(401);
  });

  it('is a fifth job of Claude', async () => {
    simulator.hold();
    const path = '/v1/projects/p/locations/us-east5/batchPredictionJobs';
    const body = JSON.stringify({
      displayName: 'claude',
      model: 'publishers/anthropic/models/claude-test',
      inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: ['gs://mine/in.jsonl'] } },
      outputConfig: {
        predictionsFormat: 'jsonl',
        gcsDestination: { outputUriPrefix: 'gs://mine/out' },
      },
    });
    const request = JSON.stringify({ custom_id: 'a', request: { messages: [] } });
    const upload = '/upload/storage/v1/b/mine/o?uploadType=media&name=in.jsonl';
    await storage(upload, { method: 'POST', body: request });
    const statuses: number[] = [];
    for (let at = 0; at < 5; at += 1) {
      statuses.push((await storage(path, { method: 'POST', body })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    const global = path.replace('us-east5', 'global');
    expect((await storage(global, { method: 'POST', body })).status).toBe(400);
  });
});
