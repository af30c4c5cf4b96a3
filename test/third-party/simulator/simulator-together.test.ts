import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type Together from 'together-ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { until } from '../../support/until.ts';

let simulator: Simulator;
let client: Together;
let folder: string;
let sdk: { Together: typeof Together };

const speed = { validating: 5, running: 10, finalizing: 5, cancelling: 5 };
const { clock, skipHours } = patientClock();
const hour = 3_600_000;
const fetchOfNode = globalThis.fetch;

beforeAll(async () => {
  simulator = await startSimulator({ speed, clock });
  folder = await mkdtemp(join(tmpdir(), 'batchling-test-'));
  // Uploads have a base URL of their own, which is read when the SDK is loaded. Only its CommonJS build
  // can open files, and Node's fetch takes no stream from it without being told that it is one.
  process.env.TOGETHER_API_BASE_URL = simulator.baseUrl('together');
  sdk = createRequire(import.meta.url)('together-ai');
  globalThis.fetch = (input, init) =>
    fetchOfNode(input, init?.body instanceof Readable ? { ...init, duplex: 'half' } : init);
  client = newClient('key-one');
});
beforeEach(() => simulator.reset());
afterAll(async () => {
  globalThis.fetch = fetchOfNode;
  delete process.env.TOGETHER_API_BASE_URL;
  await simulator.close();
  await rm(folder, { recursive: true, force: true });
});

function newClient(apiKey: string): Together {
  return new sdk.Together({ apiKey, baseURL: simulator.baseUrl('together'), maxRetries: 0 });
}

interface Line {
  custom_id?: string;
  method?: string;
  body?: unknown;
}

function chatLine(id: string, content: string, model = 'llama-test'): Line {
  return { custom_id: id, body: { model, messages: [{ role: 'user', content }] } };
}

async function upload(lines: Line[] | string, purpose: 'batch-api' | 'eval' = 'batch-api') {
  const text =
    typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n');
  const path = join(folder, `${crypto.randomUUID()}.jsonl`);
  await writeFile(path, text);
  return client.files.upload(path, purpose, false);
}

async function createJob(lines: Line[] | string): Promise<Together.BatchJob> {
  const { id } = await upload(lines);
  const created = await client.batches.create({
    input_file_id: id,
    endpoint: '/v1/chat/completions',
  });
  expect(created.warning).toBeUndefined();
  return created.job as Together.BatchJob;
}

const terminal = ['COMPLETED', 'FAILED', 'EXPIRED', 'CANCELLED'];

async function untilEnded(id = ''): Promise<Together.BatchJob> {
  const status = async () => (await client.batches.retrieve(id)).status ?? '';
  await expect.poll(async () => terminal.includes(await status())).toBe(true);
  return client.batches.retrieve(id);
}

interface ResultLine {
  custom_id: string;
  response?: { status_code: number; body: Together.Chat.Completions.ChatCompletion };
  error?: { code: string; message: string };
}

async function read(fileId: string | undefined): Promise<ResultLine[]> {
  if (!fileId) return [];
  const text = await (await client.files.content(fileId)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function run(lines: Line[]) {
  const job = await untilEnded((await createJob(lines)).id);
  return { job, output: await read(job.output_file_id), errors: await read(job.error_file_id) };
}

describe('the ordinary course of a batch of Together AI', () => {
  it('goes from upload to shuffled results that match by custom id', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => chatLine(`r-${index}`, `q${index}`));
    const created = await createJob(lines);
    expect(created).toMatchObject({
      status: 'VALIDATING',
      progress: 0,
      endpoint: '/v1/chat/completions',
    });
    expect(created).not.toHaveProperty('output_file_id');
    const job = await untilEnded(created.id);
    expect(job).toMatchObject({ status: 'COMPLETED', progress: 100, model_id: 'llama-test' });
    expect(job).not.toHaveProperty('error_file_id');
    expect(job).not.toHaveProperty('error');
    for (const date of [job.created_at, job.completed_at, job.job_deadline]) {
      expect(new Date(date ?? '').toISOString()).toBe(date);
    }
    const output = await read(job.output_file_id);
    const ids = output.map(({ custom_id: id }) => id);
    expect(ids).not.toEqual(lines.map(({ custom_id: id }) => id));
    expect(new Set(ids)).toEqual(new Set(lines.map(({ custom_id: id }) => id)));
    for (const { custom_id: id, response } of output) {
      expect(response?.status_code).toBe(200);
      const content = response?.body.choices[0]?.message?.content;
      expect(content).toContain(`answer to "q${id.slice(2)}" from llama-test`);
    }
    expect(simulator.meter.total).toBe(40);
  });

  it('stores, lists, serves and deletes files', async () => {
    expect(await client.files.list()).toEqual({ data: [] });
    const file = await upload('{"a":1}\n{"b":"ü"}\n');
    expect(file).toMatchObject({ object: 'file', purpose: 'batch-api', FileType: 'jsonl' });
    expect(file.bytes).toBe(Buffer.byteLength('{"a":1}\n{"b":"ü"}\n'));
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect(await (await client.files.content(file.id)).text()).toBe('{"a":1}\n{"b":"ü"}\n');
    expect(await client.files.list()).toEqual({ data: [file] });
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toThrow(sdk.Together.NotFoundError);
  });

  it('lists all jobs of the account at once, newest first, as a bare array', async () => {
    expect(await client.batches.list()).toEqual([]);
    simulator.hold();
    const ids: (string | undefined)[] = [];
    for (let at = 0; at < 30; at += 1) ids.unshift((await createJob([chatLine('a', 'x')])).id);
    expect((await client.batches.list()).map(({ id }) => id)).toEqual(ids);
    expect(await newClient('key-two').batches.list()).toEqual([]);
  });

  it('cancels a job, keeping what was finished', async () => {
    simulator.configure({ speed: { running: hour, cancelling: hour } });
    const lines = Array.from({ length: 10 }, (_, index) => chatLine(`r-${index}`, 'x'));
    const { id = '' } = await createJob(lines);
    await until(() => {
      skipHours(0.1);
      return simulator.meter.total > 2;
    }, 'the first lines');
    const { progress } = await client.batches.retrieve(id);
    expect(progress).toBe(10 * simulator.meter.total);
    expect((await client.batches.cancel(id)).status).toBe('IN_PROGRESS');
    skipHours(1);
    const job = await untilEnded(id);
    expect(job.status).toBe('CANCELLED');
    const output = await read(job.output_file_id);
    const errors = await read(job.error_file_id);
    expect(output.length).toBe(simulator.meter.total);
    expect(output.length + errors.length).toBe(10);
    await expect(client.batches.cancel(id)).rejects.toMatchObject({ status: 400 });
  });

  it('answers chat completions at once, too', async () => {
    const { choices } = await client.chat.completions.create({
      model: 'llama-test',
      messages: [{ role: 'user', content: 'now' }],
    });
    expect(choices[0]?.message?.content).toContain('answer to "now"');
  });
});

describe('a signed URL', () => {
  async function signedUrl(): Promise<string> {
    const form = new URLSearchParams({
      file_name: 'a.jsonl',
      file_type: 'jsonl',
      purpose: 'batch-api',
    });
    const response = await fetchOfNode(`${simulator.baseUrl('together')}/files`, {
      method: 'POST',
      headers: { authorization: 'Bearer key-one' },
      body: form,
      redirect: 'manual',
    });
    expect(response.status).toBe(302);
    expect(response.headers.get('x-together-file-id')).toMatch(/^file-/);
    return response.headers.get('location') ?? '';
  }

  const put = (url: string, headers: Record<string, string> = {}) =>
    fetchOfNode(url, { method: 'PUT', headers, body: '{}\n' });

  it('is at another origin, and the SDK sends no key there', async () => {
    await upload('{}\n');
    const [described, stored] = simulator.requests;
    expect(described).toMatchObject({ method: 'POST', path: '/v1/files' });
    expect(described?.headers).toHaveProperty('authorization');
    expect(stored).toMatchObject({ method: 'PUT', account: null });
    expect(stored?.headers).not.toHaveProperty('authorization');
    expect(stored?.headers.host).not.toBe(described?.headers.host);
  });

  it('takes no key, and the attempt is on record', async () => {
    const response = await put(await signedUrl(), { authorization: 'Bearer key-one' });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('Only one auth mechanism allowed');
    expect(simulator.requests.at(-1)?.headers).toMatchObject({ authorization: 'REDACTED' });
  });

  it('is worth nothing with another signature, or after an hour', async () => {
    const url = await signedUrl();
    expect((await put(`${url}0`)).status).toBe(403);
    expect((await put(url)).status).toBe(200);
    skipHours(1);
    const late = await put(url);
    expect(late.status).toBe(403);
    expect(await late.text()).toContain('Request has expired');
  });
});

describe('what Together AI refuses', () => {
  it('needs a valid key', async () => {
    const { AuthenticationError } = sdk.Together;
    await expect(newClient('invalid-key').batches.list()).rejects.toThrow(AuthenticationError);
  });

  it('takes files for batches only, and only such files in a create', async () => {
    await expect(upload('{}', 'eval')).rejects.toMatchObject({ message: 'failed to upload file' });
    const create = client.batches.create({
      input_file_id: 'file-none',
      endpoint: '/v1/chat/completions',
    });
    await expect(create).rejects.toThrow(sdk.Together.BadRequestError);
  });

  it('takes no field of a create that it does not know', async () => {
    const { id } = await upload([chatLine('a', 'x')]);
    const body = { input_file_id: id, endpoint: '/v1/chat/completions', metadata: {} } as const;
    await expect(client.batches.create(body)).rejects.toThrow(sdk.Together.BadRequestError);
  });

  it.each<[string, Line[] | string]>([
    ['not parseable', '{"custom_id"'],
    ['used by another request', [chatLine('a', 'x'), chatLine('a', 'y')]],
    ['empty', '\n\n'],
    ["'body'", [{ custom_id: 'a' }]],
  ])('fails a job later, with a text that says %s', async (text, lines) => {
    const job = await untilEnded((await createJob(lines)).id);
    expect(job).toMatchObject({ status: 'FAILED', error: expect.stringContaining(text) });
    expect(job).not.toHaveProperty('output_file_id');
    expect(simulator.meter.total).toBe(0);
  });

  it('fails a job for a model that is not batched', async () => {
    simulator.configure({ models: ['llama-test'] });
    const job = await untilEnded((await createJob([chatLine('a', 'x', 'other')])).id);
    expect(job).toMatchObject({ status: 'FAILED', error: expect.stringContaining("'other'") });
  });

  it('answers 404 for jobs that are not there', async () => {
    const { NotFoundError } = sdk.Together;
    await expect(client.batches.retrieve('none')).rejects.toThrow(NotFoundError);
  });
});

describe('lines that fail', () => {
  it('stand in the error file with a message and a code, but no status', async () => {
    const { job, output, errors } = await run([
      chatLine('good', 'fine'),
      chatLine('bad', '[[status 400]]'),
      chatLine('late', '[[unstated]]'),
    ]);
    expect(job).toMatchObject({ status: 'COMPLETED', progress: 100 });
    expect(output.map(({ custom_id: id }) => id)).toEqual(['good']);
    const byId = Object.fromEntries(errors.map((line) => [line.custom_id, line]));
    expect(Object.keys(byId).sort()).toEqual(['bad', 'late']);
    expect(byId.late).toEqual({
      custom_id: 'late',
      error: { message: 'Request timeout', code: 'timeout' },
    });
    expect(byId.bad).toEqual({
      custom_id: 'bad',
      error: { message: expect.stringContaining('simulated status 400'), code: 'invalid_request' },
    });
    expect(simulator.meter.total).toBe(1);
  });

  it('of a job that expired are the rest', async () => {
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const { job, output, errors } = await run([chatLine('a', 'x'), chatLine('b', 'y')]);
    expect(job.status).toBe('EXPIRED');
    expect([output.length, errors.length]).toEqual([1, 1]);
  });
});
