import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiError, type BatchJob, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

let simulator: Simulator;
let client: GoogleGenAI;
let folder: string;

const speed = { validating: 5, running: 10, finalizing: 5, cancelling: 5 };

beforeAll(async () => {
  simulator = await startSimulator({ speed });
  folder = await mkdtemp(join(tmpdir(), 'batchling-google-'));
  client = newClient('key-one');
});
beforeEach(() => simulator.reset());
afterAll(async () => {
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

function newClient(apiKey: string): GoogleGenAI {
  return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: simulator.baseUrl('google') } });
}

const model = 'gemini-test';
const contentsOf = (text: string) => [{ role: 'user', parts: [{ text }] }];

function line(key: string, text: string): string {
  return JSON.stringify({ key, request: { contents: contentsOf(text) } });
}

function upload(lines: readonly string[], by = client) {
  const file = new Blob([lines.join('\n')], { type: 'application/jsonl' });
  return by.files.upload({ file, config: { displayName: 'input' } });
}

async function createFromFile(lines: readonly string[], displayName = 'from a file') {
  const { name = '' } = await upload(lines);
  return client.batches.create({ model, src: name, config: { displayName } });
}

function createInline(...texts: readonly string[]) {
  const src = texts.map((text, at) => ({
    contents: contentsOf(text),
    metadata: { key: `k-${at}` },
  }));
  return client.batches.create({ model, src, config: { displayName: 'inline' } });
}

function get({ name = '' }: BatchJob): Promise<BatchJob> {
  return client.batches.get({ name });
}

async function untilEnded(job: BatchJob): Promise<BatchJob> {
  const ends = /SUCCEEDED|FAILED|CANCELLED|EXPIRED/;
  await expect.poll(async () => (await get(job)).state).toMatch(ends);
  return get(job);
}

interface ResultLine {
  key: string;
  response?: { candidates: { content: { parts: { text: string }[] } }[] };
  error?: { code: number; message: string };
}

async function read(job: BatchJob): Promise<ResultLine[]> {
  const downloadPath = join(folder, `${(job.name ?? '').replace('/', '-')}.jsonl`);
  await client.files.download({ file: job.dest?.fileName ?? '', downloadPath });
  const text = await readFile(downloadPath, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one));
}

function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  return promise.then(
    () => {
      throw new Error('It did not fail');
    },
    (error: ApiError) => error,
  );
}

describe('the ordinary course of a Gemini batch', () => {
  it('goes from a resumable upload to shuffled results that match by key', async () => {
    const lines = Array.from({ length: 30 }, (_, at) => line(`r-${at}`, `q${at}`));
    const created = await createFromFile(lines);
    expect(created).toMatchObject({ displayName: 'from a file', model: `models/${model}` });
    expect(created.state).toBe('JOB_STATE_PENDING');
    const job = await untilEnded(created);
    expect(job.state).toBe('JOB_STATE_SUCCEEDED');
    expect(job.dest?.fileName).toMatch(/^files\/batch-/);
    const results = await read(job);
    const keys = results.map(({ key }) => key);
    expect(keys).not.toEqual(lines.map((_, at) => `r-${at}`));
    expect(new Set(keys)).toEqual(new Set(lines.map((_, at) => `r-${at}`)));
    for (const { key, response } of results) {
      const text = response?.candidates[0]?.content.parts[0]?.text;
      expect(text).toContain(`answer to "q${key.slice(2)}" from ${model}`);
    }
    expect(simulator.meter).toMatchObject({ total: 30, batched: 30 });
  });

  it('takes a file in chunks of eight megabytes', async () => {
    const long = 'x'.repeat(1_000_000);
    const lines = Array.from({ length: 18 }, (_, at) => line(`r-${at}`, long));
    const job = await untilEnded(await createFromFile(lines));
    expect(job.state).toBe('JOB_STATE_SUCCEEDED');
    expect(simulator.countRequests('POST', '/upload/v1beta/files')).toBe(4);
    expect(simulator.meter.total).toBe(18);
  });

  it('has the answers of inline requests in itself', async () => {
    const job = await untilEnded(await createInline('one', 'two'));
    const told = new Map(
      job.dest?.inlinedResponses?.map(({ metadata, response }) => [
        metadata?.key,
        response?.candidates?.[0]?.content?.parts?.[0]?.text,
      ]),
    );
    expect(told.get('k-0')).toContain('answer to "one"');
    expect(told.get('k-1')).toContain('answer to "two"');
  });

  it('embeds, from inline requests and from a file', async () => {
    const contents = ['a', 'b'].map((text) => ({ parts: [{ text }] }));
    const inline = await client.batches.createEmbeddings({
      model: 'embedding-test',
      src: { inlinedRequests: { contents } },
    });
    const { dest } = await untilEnded(inline);
    expect(dest?.inlinedEmbedContentResponses).toMatchObject([
      { response: { embedding: { values: expect.any(Array) } } },
      { response: { embedding: { values: expect.any(Array) } } },
    ]);
    const request = { content: { parts: [{ text: 'c' }] }, outputDimensionality: 3 };
    const { name: fileName = '' } = await upload([JSON.stringify({ key: 'e-1', request })]);
    const job = await untilEnded(
      await client.batches.createEmbeddings({ model: 'embedding-test', src: { fileName } }),
    );
    expect(await read(job)).toMatchObject([
      {
        key: 'e-1',
        response: {
          embedding: { values: [expect.any(Number), 0, 0].map(() => expect.any(Number)) },
        },
      },
    ]);
  });

  it('is listed page by page, and gone once it is deleted', async () => {
    const jobs: BatchJob[] = [];
    for (const text of ['a', 'b', 'c']) jobs.unshift(await createInline(text));
    const listed: (string | undefined)[] = [];
    for await (const { name } of await client.batches.list({ config: { pageSize: 2 } })) {
      listed.push(name);
    }
    expect(listed).toEqual(jobs.map(({ name }) => name));
    const { name = '' } = jobs[0] as BatchJob;
    await client.batches.delete({ name });
    expect((await failureOf(client.batches.get({ name }))).status).toBe(404);
  });

  it('is cancelled, and what it had done is lost', async () => {
    simulator.hold();
    const created = await createInline('one', 'two');
    await client.batches.cancel({ name: created.name ?? '' });
    const job = await untilEnded(created);
    expect(job.state).toBe('JOB_STATE_CANCELLED');
    expect(job.dest).toBeUndefined();
    expect(simulator.meter.total).toBe(0);
  });

  it('that expires has no answers at all', async () => {
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const job = await untilEnded(await createInline('one', 'two'));
    expect(job).toMatchObject({ state: 'JOB_STATE_EXPIRED' });
    expect(job.dest).toBeUndefined();
  });

  it('holds errors of single requests, with codes of gRPC', async () => {
    const marks = [400, 403, 404, 429, 500, 503];
    const lines = marks.map((status) => line(`s-${status}`, `[[status ${status}]]`));
    const results = await read(await untilEnded(await createFromFile(lines)));
    const codes = new Map(results.map(({ key, error }) => [key, error?.code]));
    expect(marks.map((status) => codes.get(`s-${status}`))).toEqual([3, 7, 5, 8, 13, 14]);
  });
});

describe('files', () => {
  it('are shown, listed and deleted, but an upload is never given back', async () => {
    const file = await upload([line('a', 'x')]);
    expect(file).toMatchObject({ displayName: 'input', mimeType: 'application/jsonl' });
    const { name = '' } = file;
    expect((await client.files.get({ name })).name).toBe(name);
    const names: (string | undefined)[] = [];
    for await (const one of await client.files.list()) names.push(one.name);
    expect(names).toEqual([name]);
    const downloadPath = join(folder, 'never.jsonl');
    const refused = await failureOf(client.files.download({ file: name, downloadPath }));
    expect(refused.status).toBe(400);
    await client.files.delete({ name });
    expect((await failureOf(client.files.get({ name }))).status).toBe(403);
  });

  it('and batches belong to their key', async () => {
    const { name = '' } = await upload([line('a', 'x')]);
    const other = newClient('key-two');
    expect((await failureOf(other.files.get({ name }))).status).toBe(403);
    const config = { displayName: 'theirs' };
    const refused = await failureOf(other.batches.create({ model, src: name, config }));
    expect(refused.message).toContain('may not exist');
  });
});

describe('what Google refuses', () => {
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${simulator.baseUrl('google')}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': 'key-one', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: await response.json() };
  };
  const create = `/v1beta/models/${model}:batchGenerateContent`;
  const requests = { requests: [{ request: { contents: contentsOf('x') } }] };

  it.each([
    ['a field that it does not know', { batch: {}, input_file_id: 'x' }],
    ['a batch without a name', { batch: { inputConfig: { requests } } }],
    ['a batch without requests', { batch: { displayName: 'x', inputConfig: {} } }],
    ['requests that are nested once', { batch: { displayName: 'x', inputConfig: requests } }],
    [
      'a request with a key beside it',
      {
        batch: {
          displayName: 'x',
          inputConfig: { requests: { requests: [{ key: 'a', request: {} }] } },
        },
      },
    ],
  ])('%s', async (_what, body) => {
    const { status, json } = await post(create, body);
    expect(status).toBe(400);
    expect(json).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
    expect(simulator.batches()).toEqual([]);
  });

  it('batches below /v1', async () => {
    const body = { batch: { displayName: 'x', inputConfig: { requests } } };
    expect((await post(create.replace('v1beta', 'v1'), body)).status).toBe(404);
  });

  it('a file whose lines have another shape, after it was accepted', async () => {
    const bad = JSON.stringify({ custom_id: 'a', request: { contents: contentsOf('x') } });
    const { name } = await untilEnded(await createFromFile([bad]));
    const response = await fetch(`${simulator.baseUrl('google')}/v1beta/${name}`, {
      headers: { 'x-goog-api-key': 'key-one' },
    });
    expect(await response.json()).toMatchObject({
      done: true,
      metadata: { state: 'BATCH_STATE_FAILED' },
      error: { code: 3, message: expect.stringContaining('custom_id') },
    });
  });

  it('a key that it does not know, and none', async () => {
    const wrong = newClient('invalid-key');
    const asked = { model, contents: 'x' };
    expect((await failureOf(wrong.models.generateContent(asked))).status).toBe(400);
    const { status } = await post(create, {}, { 'x-goog-api-key': '' });
    expect(status).toBe(403);
  });
});
