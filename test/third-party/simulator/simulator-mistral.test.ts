import { Mistral } from '@mistralai/mistralai';
import { HTTPValidationError, MistralError } from '@mistralai/mistralai/models/errors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { until } from '../../support/until.ts';

let simulator: Simulator;
let client: Mistral;

const speed = { validating: 5, running: 10, finalizing: 5, cancelling: 5 };
const { clock, skipHours } = patientClock();
const hour = 3_600_000;
const model = 'mistral-test';

beforeAll(async () => {
  simulator = await startSimulator({ speed, clock });
  client = newClient('one');
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

function newClient(apiKey: string): Mistral {
  return new Mistral({ apiKey, serverURL: simulator.baseUrl('mistral') });
}

type CreateRequest = Parameters<Mistral['batch']['jobs']['create']>[0];
type Job = Awaited<ReturnType<Mistral['batch']['jobs']['get']>>;

function request(customId: string, content: string, change: object = {}) {
  return { customId, body: { messages: [{ role: 'user', content }], ...change } };
}

const endpoint = '/v1/chat/completions';

function create(requests: CreateRequest['requests'], change: Partial<CreateRequest> = {}) {
  return client.batch.jobs.create({ requests, endpoint, model, ...change });
}

function upload(lines: object[] | string, fileName = 'batch.jsonl') {
  const text =
    typeof lines === 'string' ? lines : lines.map((one) => JSON.stringify(one)).join('\n');
  return client.files.upload({
    file: { fileName, content: new Blob([text]) },
    purpose: 'batch',
  });
}

function fileLine(id: string, content: string) {
  return { custom_id: id, body: { messages: [{ role: 'user', content }] } };
}

const terminal = ['SUCCESS', 'FAILED', 'TIMEOUT_EXCEEDED', 'CANCELLED'];

async function untilEnded(jobId: string): Promise<Job> {
  await expect
    .poll(async () => terminal.includes((await client.batch.jobs.get({ jobId })).status))
    .toBe(true);
  return client.batch.jobs.get({ jobId });
}

interface ResultLine {
  custom_id: string;
  response: { status_code: number; body: Record<string, unknown> } | null;
  error: unknown;
}

async function read(fileId: string | null | undefined): Promise<ResultLine[]> {
  if (!fileId) return [];
  const text = await new Response(await client.files.download({ fileId })).text();
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as ResultLine);
}

async function refusal(promise: Promise<unknown>): Promise<MistralError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof MistralError) return error;
  throw error ?? new Error('nothing was refused');
}

describe('the ordinary course of a job of Mistral', () => {
  it('goes from requests in the create call to shuffled results', async () => {
    const requests = Array.from({ length: 40 }, (_, at) => request(`r-${at}`, `q${at}`));
    const created = await create(requests, { metadata: { run: 'one' }, timeoutHours: 48 });
    expect(created).toMatchObject({
      object: 'batch',
      status: 'QUEUED',
      model,
      endpoint,
      metadata: { run: 'one' },
      errors: [],
    });
    expect(created.outputFile).toBeNull();
    const job = await untilEnded(created.id);
    expect(job).toMatchObject({
      status: 'SUCCESS',
      errorFile: null,
      totalRequests: 40,
      completedRequests: 40,
      succeededRequests: 40,
      failedRequests: 0,
    });
    const output = await read(job.outputFile);
    const ids = output.map((line) => line.custom_id);
    expect(ids).not.toEqual(requests.map(({ customId }) => customId));
    expect(new Set(ids)).toEqual(new Set(requests.map(({ customId }) => customId)));
    for (const { custom_id: id, response, error } of output) {
      expect(error).toBeNull();
      expect(Object.keys(response ?? {})).toEqual(['status_code', 'body']);
      expect(JSON.stringify(response?.body)).toContain(
        `answer to \\"q${id.slice(2)}\\" from ${model}`,
      );
    }
    expect(simulator.meter.total).toBe(40);
    const inline = await client.batch.jobs.get({ jobId: job.id, inline: true });
    expect(inline.outputs).toHaveLength(40);
  });

  it('goes from an upload to results', async () => {
    const file = await upload([fileLine('a', 'one'), fileLine('b', 'two')]);
    expect(file).toMatchObject({ object: 'file', filename: 'batch.jsonl', purpose: 'batch' });
    const created = await client.batch.jobs.create({ inputFiles: [file.id], endpoint, model });
    expect(created.inputFiles).toEqual([file.id]);
    const job = await untilEnded(created.id);
    expect((await read(job.outputFile)).map((line) => line.custom_id).sort()).toEqual(['a', 'b']);
  });

  it('stores, lists, serves and deletes files', async () => {
    const file = await upload('{"a":1}\n', 'two.jsonl');
    expect(await client.files.retrieve({ fileId: file.id })).toMatchObject({
      id: file.id,
      sizeBytes: 8,
    });
    const other = await upload('{}', 'three.jsonl');
    const { data, total } = await client.files.list({ pageSize: 1 });
    expect([data.map(({ id }) => id), total]).toEqual([[other.id], 2]);
    expect(await client.files.delete({ fileId: file.id })).toMatchObject({ deleted: true });
    const error = await refusal(client.files.retrieve({ fileId: file.id }));
    expect(error.statusCode).toBe(404);
  });

  it('lists jobs newest first, by pages with numbers, and filters them', async () => {
    simulator.hold();
    const ids: string[] = [];
    for (const run of ['a', 'b', 'a', 'b', 'a']) {
      ids.unshift((await create([request('x', 'y')], { metadata: { run } })).id);
    }
    const idsOf = async (asked: Parameters<Mistral['batch']['jobs']['list']>[0]) =>
      (await client.batch.jobs.list(asked)).data?.map(({ id }) => id);
    expect(await client.batch.jobs.list({ pageSize: 2 })).toMatchObject({ total: 5 });
    expect(await idsOf({ pageSize: 2 })).toEqual(ids.slice(0, 2));
    expect(await idsOf({ pageSize: 2, page: 2 })).toEqual(ids.slice(4));
    expect(await idsOf({ page: 1 })).toEqual([]);
    expect(await idsOf({ metadata: { run: 'b' } })).toEqual([ids[1], ids[3]]);
    expect(await idsOf({ orderBy: 'created' })).toEqual([...ids].reverse());
    expect(await idsOf({ status: ['SUCCESS'] })).toEqual([]);
    expect(await idsOf({ model: 'another' })).toEqual([]);
    expect(await idsOf({ createdAfter: new Date(clock.now() + hour) })).toEqual([]);
  });

  it('cancels a job, keeping what was finished; the rest has no line', async () => {
    simulator.configure({ speed: { running: hour, cancelling: hour } });
    const requests = Array.from({ length: 10 }, (_, at) => request(`r-${at}`, 'x'));
    const { id: jobId } = await create(requests);
    await until(() => {
      skipHours(0.1);
      return simulator.meter.total > 2;
    }, 'the first lines');
    expect((await client.batch.jobs.cancel({ jobId })).status).toBe('CANCELLATION_REQUESTED');
    skipHours(1);
    const job = await untilEnded(jobId);
    expect(job).toMatchObject({ status: 'CANCELLED', errorFile: null });
    expect(await read(job.outputFile)).toHaveLength(simulator.meter.total);
    expect((await refusal(client.batch.jobs.cancel({ jobId }))).statusCode).toBe(409);
    expect(await client.batch.jobs.delete({ jobId })).toMatchObject({ deleted: true });
    expect((await refusal(client.batch.jobs.get({ jobId }))).statusCode).toBe(404);
  });

  it('ends a job that takes too long, keeping what was finished', async () => {
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const job = await untilEnded((await create([request('a', 'x'), request('b', 'y')])).id);
    expect(job).toMatchObject({ status: 'TIMEOUT_EXCEEDED', succeededRequests: 1 });
    expect(await read(job.outputFile)).toHaveLength(1);
  });

  it('keeps results for 24 hours', async () => {
    const job = await untilEnded((await create([request('a', 'x')])).id);
    expect(await read(job.outputFile)).toHaveLength(1);
    skipHours(24);
    expect((await refusal(read(job.outputFile))).statusCode).toBe(404);
  });
});

describe('what Mistral refuses', () => {
  it('needs a key', async () => {
    const error = await refusal(newClient('invalid-key').batch.jobs.list());
    expect(error).toMatchObject({ statusCode: 401 });
    expect(error.message).toContain('Unauthorized');
  });

  it.each<[string, Partial<CreateRequest>]>([
    ['an unknown endpoint', { endpoint: '/v1/agents/completions' as unknown as typeof endpoint }],
    ['neither files nor requests', { requests: undefined }],
    ['files and requests', { inputFiles: ['f'] }],
    ['no request at all', { requests: [] }],
    ['no model', { model: undefined }],
    ['whole seven days', { timeoutHours: 168 }],
    ['as many requests as need a file', { requests: Array(10_000).fill(request('a', 'x')) }],
  ])('refuses to create a job with %s', async (_what, change) => {
    const error = await refusal(create([request('a', 'x')], change));
    expect(error.statusCode).toBe(422);
    expect(simulator.batches()).toEqual([]);
  });

  it('refuses a create with a field that it does not know', async () => {
    const response = await fetch(`${simulator.baseUrl('mistral')}/v1/batch/jobs`, {
      method: 'POST',
      headers: { authorization: 'Bearer one' },
      body: JSON.stringify({ requests: [], endpoint, model, completion_window: '24h' }),
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      detail: [{ loc: ['body', 'completion_window'] }],
    });
  });

  it('does not know another key’s files and jobs', async () => {
    const { id: jobId } = await create([request('a', 'x')]);
    const other = newClient('two');
    expect((await refusal(other.batch.jobs.get({ jobId }))).statusCode).toBe(404);
    const file = await upload([fileLine('a', 'x')]);
    const stolen = other.batch.jobs.create({ inputFiles: [file.id], endpoint, model });
    expect((await refusal(stolen)).statusCode).toBe(404);
  });

  it.each<[string, object[]]>([
    ['the model is not that of the job', [request('a', 'x', { model: 'other' })]],
    ['custom_id is not unique', [request('a', 'x'), request('a', 'y')]],
    ['marked as invalid', [request('a', '[[invalid]]')]],
  ])('fails a job later: %s', async (message, requests) => {
    const job = await untilEnded((await create(requests as CreateRequest['requests'])).id);
    expect(job).toMatchObject({ status: 'FAILED', outputFile: null, errorFile: null });
    expect(job.errors[0]?.message).toContain(message);
    expect(simulator.meter.total).toBe(0);
  });

  it('fails a job whose file has other fields than an id and a body', async () => {
    const file = await upload([{ ...fileLine('a', 'x'), method: 'POST' }]);
    const created = await client.batch.jobs.create({ inputFiles: [file.id], endpoint, model });
    expect((await untilEnded(created.id)).errors[0]?.message).toContain('extra field method');
  });

  it('puts failed lines into the error file and sums their messages up', async () => {
    const job = await untilEnded(
      (
        await create([
          request('good', 'fine'),
          request('bad', '[[status 400]]'),
          request('worse', '[[status 400]]'),
          request('lost', '[[unstated]]'),
          request('late', '[[expired]]'),
        ])
      ).id,
    );
    expect(job).toMatchObject({
      status: 'SUCCESS',
      totalRequests: 5,
      completedRequests: 4,
      succeededRequests: 1,
      failedRequests: 3,
    });
    expect(job.errors).toEqual([{ message: 'simulated status 400', count: 2 }]);
    const byId = new Map((await read(job.errorFile)).map((line) => [line.custom_id, line]));
    expect([...byId.keys()].sort()).toEqual(['bad', 'lost', 'worse']);
    expect(byId.get('bad')?.response).toMatchObject({
      status_code: 400,
      body: { object: 'error', message: 'simulated status 400' },
    });
    expect(byId.get('lost')).toMatchObject({ response: null, error: 'Request timeout' });
  });
});

describe('calls to Mistral at once', () => {
  it('answers every endpoint of the SDK', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }];
    const chat = await client.chat.complete({ model, messages });
    expect(chat.choices[0]?.message?.content).toContain('answer to "hi"');
    const fim = await client.fim.complete({ model, prompt: 'def f(' });
    expect(fim.choices[0]?.message?.content).toContain('answer to "def f("');
    const embedded = await client.embeddings.create({ model, inputs: ['a', 'b'] });
    expect(embedded.data).toHaveLength(2);
    const moderated = await client.classifiers.moderate({ model, inputs: ['a', 'b'] });
    expect(moderated.results).toHaveLength(2);
    const chats = await client.classifiers.moderateChat({ model, inputs: messages });
    expect(chats.results).toHaveLength(1);
    const classified = await client.classifiers.classify({ model, inputs: 'a' });
    expect(classified.results[0]?.mood?.scores).toEqual({ calm: 0.9, angry: 0.1 });
    const input = { messages };
    expect((await client.classifiers.classifyChat({ model, input })).results).toHaveLength(1);
    const document = { type: 'document_url' as const, documentUrl: 'https://a.example/b.pdf' };
    expect((await client.ocr.process({ model, document })).pages).toHaveLength(1);
    const talk = await client.beta.conversations.start({ model, inputs: 'hi' });
    expect(talk.outputs).toHaveLength(1);
    expect(simulator.meter).toMatchObject({ realtime: 9, batched: 0 });
  });

  it('streams', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }];
    let text = '';
    for await (const { data } of await client.chat.stream({ model, messages })) {
      text += data.choices[0]?.delta.content ?? '';
    }
    expect(text).toContain('answer to "hi"');
  });

  it('tells what is wrong with a field as the SDK expects it', async () => {
    const messages = [{ role: 'user' as const, content: '[[status 422]]' }];
    const error = await refusal(client.chat.complete({ model, messages }));
    expect(error).toBeInstanceOf(HTTPValidationError);
    expect((error as HTTPValidationError).detail?.[0]?.msg).toBe('simulated status 422');
  });
});
