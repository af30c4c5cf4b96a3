import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { patientClock } from '../../support/clocks/patient-clock.ts';
import { until } from '../../support/until.ts';

let simulator: Simulator;
let client: OpenAI;

const speed = { validating: 5, running: 10, finalizing: 5, cancelling: 5 };
const { clock, skipHours } = patientClock();
const hour = 3_600_000;

beforeAll(async () => {
  simulator = await startSimulator({ speed, clock });
  client = newClient('sk-one');
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

function newClient(apiKey: string, options: { organization?: string } = {}): OpenAI {
  return new OpenAI({
    apiKey,
    baseURL: simulator.baseUrl('openai'),
    maxRetries: 0,
    organization: null,
    project: null,
    ...options,
  });
}

interface Line {
  custom_id?: string;
  method?: string;
  url?: string;
  body?: unknown;
}

function chatLine(id: string, content: string, model = 'gpt-test'): Line {
  const messages = [{ role: 'user', content }];
  return { custom_id: id, method: 'POST', url: '/v1/chat/completions', body: { model, messages } };
}

function upload(lines: Line[] | string, filename = 'batch.jsonl', by = client) {
  const text =
    typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n');
  return toFile(Buffer.from(text), filename).then((file) =>
    by.files.create({ file, purpose: 'batch' }),
  );
}

async function createBatch(lines: Line[] | string, metadata: Record<string, string> = {}) {
  const file = await upload(lines);
  return client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata,
  });
}

const terminal = ['completed', 'failed', 'expired', 'cancelled'];

function untilEnded(id: string) {
  return expect
    .poll(async () => {
      const batch = await client.batches.retrieve(id);
      return terminal.includes(batch.status) ? batch : null;
    })
    .not.toBeNull()
    .then(() => client.batches.retrieve(id));
}

interface ResultLine {
  id: string;
  custom_id: string;
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  error: { code: string; message: string } | null;
}

async function read(fileId: string | null | undefined): Promise<ResultLine[]> {
  if (!fileId) return [];
  const text = await (await client.files.content(fileId)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

async function run(lines: Line[]) {
  const batch = await untilEnded((await createBatch(lines)).id);
  return {
    batch,
    output: await read(batch.output_file_id),
    errors: await read(batch.error_file_id),
  };
}

describe('the ordinary course of an OpenAI batch', () => {
  it('goes from upload to shuffled results that match by custom id', async () => {
    const lines = Array.from({ length: 40 }, (_, index) => chatLine(`r-${index}`, `q${index}`));
    const created = await createBatch(lines, { run: 'one' });
    expect(created).toMatchObject({
      object: 'batch',
      status: 'validating',
      metadata: { run: 'one' },
      request_counts: { total: 0, completed: 0, failed: 0 },
      output_file_id: null,
    });
    const batch = await untilEnded(created.id);
    expect(batch).toMatchObject({
      status: 'completed',
      model: 'gpt-test',
      error_file_id: null,
      errors: null,
      request_counts: { total: 40, completed: 40, failed: 0 },
    });
    for (const at of [batch.in_progress_at, batch.finalizing_at, batch.completed_at]) {
      expect(at).toBeTypeOf('number');
    }
    const output = await read(batch.output_file_id);
    const ids = output.map((line) => line.custom_id);
    expect(ids).not.toEqual(lines.map((line) => line.custom_id));
    expect(new Set(ids)).toEqual(new Set(lines.map((line) => line.custom_id)));
    for (const line of output) {
      const question = `q${line.custom_id.slice(2)}`;
      const completion = line.response?.body as unknown as OpenAI.ChatCompletion;
      expect(line).toMatchObject({ error: null, response: { status_code: 200 } });
      expect(completion.choices[0]?.message.content).toMatch(
        new RegExp(`^answer to "${question}" from gpt-test \\(execution \\d+\\)$`),
      );
    }
    expect(simulator.meter.total).toBe(40);
    expect(simulator.meter.executedTwice()).toEqual([]);
    expect(simulator.meter.executions[0]).toMatchObject({
      provider: 'openai',
      batchId: batch.id,
      endpoint: '/v1/chat/completions',
      model: 'gpt-test',
      body: { model: 'gpt-test' },
    });
  });

  it('gives each execution of the same body another answer', async () => {
    const first = await run([chatLine('a', 'same')]);
    const second = await run([chatLine('a', 'same')]);
    expect(first.output[0]?.response?.body).not.toEqual(second.output[0]?.response?.body);
    expect(simulator.meter.executedTwice()).toEqual(['a']);
  });

  it('stores, lists, serves and deletes files', async () => {
    const file = await upload('{"a":1}\n{"b":"ü"}\n', 'two.jsonl');
    expect(file).toMatchObject({ object: 'file', filename: 'two.jsonl', purpose: 'batch' });
    expect(file.bytes).toBe(Buffer.byteLength('{"a":1}\n{"b":"ü"}\n'));
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect(await (await client.files.content(file.id)).text()).toBe('{"a":1}\n{"b":"ü"}\n');
    const other = await upload('{}', 'three.jsonl');
    const listed = await client.files.list({ purpose: 'batch', order: 'desc' });
    expect(listed.data.map(({ id }) => id)).toEqual([other.id, file.id]);
    expect(await client.files.delete(file.id)).toEqual({
      id: file.id,
      object: 'file',
      deleted: true,
    });
    await expect(client.files.retrieve(file.id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  it('takes a lifetime for a file, within bounds', async () => {
    const file = await toFile(Buffer.from('{}'), 'a.jsonl');
    const create = (seconds: number) =>
      client.files.create({
        file,
        purpose: 'batch',
        expires_after: { anchor: 'created_at', seconds },
      });
    const kept = await create(3600);
    expect(kept.expires_at).toBe(kept.created_at + 3600);
    await expect(create(10)).rejects.toThrow(OpenAI.BadRequestError);
  });

  it('lists batches newest first, page by page', async () => {
    simulator.hold();
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.unshift((await createBatch([chatLine('a', 'x')])).id);
    const page = await client.batches.list({ limit: 2 });
    expect(page.has_more).toBe(true);
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const all: string[] = [];
    for await (const batch of client.batches.list({ limit: 2 })) all.push(batch.id);
    expect(all).toEqual(ids);
  });

  it('keeps batches in progress while they are held', async () => {
    simulator.hold();
    const { id } = await createBatch([chatLine('a', 'x')]);
    await expect.poll(async () => (await client.batches.retrieve(id)).status).toBe('in_progress');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect((await client.batches.retrieve(id)).status).toBe('in_progress');
    expect(simulator.meter.total).toBe(0);
    simulator.release();
    expect((await untilEnded(id)).status).toBe('completed');
  });

  it('cancels a batch, keeping what was finished', async () => {
    simulator.configure({ speed: { running: hour, cancelling: hour } });
    const { id } = await createBatch(
      Array.from({ length: 10 }, (_, index) => chatLine(`r-${index}`, 'x')),
    );
    await until(() => {
      skipHours(0.1);
      return simulator.meter.total > 2;
    }, 'the first lines');
    expect((await client.batches.cancel(id)).status).toBe('cancelling');
    expect((await client.batches.cancel(id)).status).toBe('cancelling');
    skipHours(1);
    const batch = await untilEnded(id);
    const output = await read(batch.output_file_id);
    const errors = await read(batch.error_file_id);
    expect(batch.status).toBe('cancelled');
    expect(output.length).toBe(simulator.meter.total);
    expect(output.length + errors.length).toBe(10);
    expect(errors[0]).toMatchObject({ response: null, error: { code: 'batch_cancelled' } });
    await expect(client.batches.cancel(id)).rejects.toThrow(OpenAI.ConflictError);
  });
});

describe('what OpenAI refuses', () => {
  it('needs a valid key', async () => {
    await expect(newClient('invalid-key').batches.list()).rejects.toThrow(
      OpenAI.AuthenticationError,
    );
    const response = await fetch(`${simulator.baseUrl('openai')}/batches`);
    expect(response.status).toBe(401);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
  });

  it('refuses uploads that are not .jsonl, or not for a batch', async () => {
    await expect(upload('{}', 'batch.json')).rejects.toThrow(
      '400 Invalid file format for Batch API. Must be .jsonl',
    );
    const file = await toFile(Buffer.from('{}'), 'a.jsonl');
    await expect(client.files.create({ file, purpose: 'vision' })).rejects.toThrow(
      OpenAI.BadRequestError,
    );
  });

  it('refuses an upload beyond the limit', async () => {
    simulator.configure({ limits: { openai: { bytesPerBatch: 100_000 } } });
    await expect(upload('x'.repeat(1_000_000))).rejects.toMatchObject({ status: 413 });
  });

  it.each([
    ['an unknown file', { input_file_id: 'file-none' }, 'input_file_id'],
    ['an unknown endpoint', { endpoint: '/v1/nonsense' }, 'endpoint'],
    ['another window', { completion_window: '1h' }, 'completion_window'],
    ['a long metadata value', { metadata: { k: 'x'.repeat(513) } }, 'metadata.k'],
    ['numbers in metadata', { metadata: { k: 1 } }, 'metadata.k'],
    [
      'too short an output lifetime',
      { output_expires_after: { anchor: 'created_at', seconds: 1 } },
      'output_expires_after[seconds]',
    ],
  ])('refuses to create a batch with %s', async (_what, change, param) => {
    const file = await upload([chatLine('a', 'x')]);
    const body = {
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      ...change,
    };
    const creating = client.batches.create(body as OpenAI.BatchCreateParams);
    await expect(creating).rejects.toMatchObject({ status: 400, param });
  });

  it.each<[string, Line[] | string]>([
    ['invalid_json_line', '{"custom_id"'],
    ['duplicate_custom_id', [chatLine('a', 'x'), chatLine('a', 'y')]],
    ['url_mismatch', [{ ...chatLine('a', 'x'), url: '/v1/responses' }]],
    ['model_mismatch', [chatLine('a', 'x'), chatLine('b', 'x', 'other')]],
    ['empty_file', '\n\n'],
    ['missing_required_parameter', [{ custom_id: 'a' }]],
  ])('fails a batch later with %s', async (code, lines) => {
    const created = await createBatch(lines);
    expect(created.status).toBe('validating');
    const batch = await untilEnded(created.id);
    expect(batch.status).toBe('failed');
    expect(batch.errors).toMatchObject({ object: 'list', data: [{ code }] });
    expect(batch.output_file_id).toBeNull();
    expect(simulator.meter.total).toBe(0);
  });

  it('names the line of each error', async () => {
    const lines = `${JSON.stringify(chatLine('a', 'x'))}\nnonsense\n`;
    const batch = await untilEnded((await createBatch(lines)).id);
    expect(batch.errors?.data?.[0]).toMatchObject({ line: 2, param: null });
  });

  it('fails a batch when too many tokens wait, and takes it once they are gone', async () => {
    simulator.configure({ limits: { openai: { enqueuedTokens: 50 } } });
    simulator.hold();
    const first = await createBatch([chatLine('a', 'x'.repeat(150))]);
    await expect
      .poll(async () => (await client.batches.retrieve(first.id)).status)
      .toBe('in_progress');
    const second = await untilEnded((await createBatch([chatLine('b', 'x'.repeat(150))])).id);
    expect(second.errors?.data?.[0]).toMatchObject({ code: 'token_limit_exceeded', line: null });
    simulator.release();
    await untilEnded(first.id);
    const third = await untilEnded((await createBatch([chatLine('b', 'x'.repeat(150))])).id);
    expect(third.status).toBe('completed');
  });

  it('fails a batch with too many requests', async () => {
    simulator.configure({ limits: { openai: { requestsPerBatch: 1 } } });
    const lines = [chatLine('a', 'x'), chatLine('b', 'x')];
    const batch = await untilEnded((await createBatch(lines)).id);
    expect(batch.errors?.data?.[0]?.code).toBe('too_many_tasks');
  });

  it('answers 404 for unknown routes and ids', async () => {
    await expect(client.models.list()).rejects.toThrow(OpenAI.NotFoundError);
    await expect(client.batches.retrieve('batch_none')).rejects.toThrow(OpenAI.NotFoundError);
  });
});

describe('markers in OpenAI lines', () => {
  it('puts failed lines into the error file, unbilled', async () => {
    const { batch, output, errors } = await run([
      chatLine('good', 'fine'),
      chatLine('bad', 'x [[status 400]]'),
      chatLine('busy', '[[status 429]]'),
      chatLine('dead', '[[status 0]]'),
      chatLine('old', '[[expired]]'),
    ]);
    expect(batch.request_counts).toEqual({ total: 5, completed: 1, failed: 4 });
    expect(output.map((line) => line.custom_id)).toEqual(['good']);
    const byId = new Map(errors.map((line) => [line.custom_id, line]));
    expect(byId.get('bad')?.response).toMatchObject({
      status_code: 400,
      body: { error: { type: 'invalid_request_error' } },
    });
    expect(byId.get('busy')?.response?.status_code).toBe(429);
    expect(byId.get('dead')?.response).toEqual({ status_code: 0, request_id: '', body: {} });
    expect(byId.get('old')).toMatchObject({ response: null, error: { code: 'batch_expired' } });
    expect(simulator.meter.total).toBe(1);
    expect(simulator.meter.failed).toBe(4);
  });

  it('has no output file when every line failed', async () => {
    const { batch } = await run([chatLine('a', '[[status 500]]')]);
    expect(batch).toMatchObject({ status: 'completed', output_file_id: null });
    expect(batch.error_file_id).toMatch(/^file-/);
  });

  it('loses, breaks, doubles and adds lines', async () => {
    const file = await upload([
      chatLine('missing', '[[missing]]'),
      chatLine('broken', '[[broken]]'),
      chatLine('double', '[[double]]'),
      chatLine('foreign', '[[foreign]]'),
      chatLine('empty', '[[empty]]'),
    ]);
    const created = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    });
    const batch = await untilEnded(created.id);
    const text = await (await client.files.content(batch.output_file_id ?? '')).text();
    const parsed: ResultLine[] = [];
    let garbage = 0;
    for (const line of text.trimEnd().split('\n')) {
      try {
        parsed.push(JSON.parse(line));
      } catch {
        garbage += 1;
      }
    }
    const ids = parsed.map((line) => line.custom_id);
    expect(garbage).toBe(1);
    expect(ids).not.toContain('missing');
    expect(ids.filter((id) => id === 'double')).toHaveLength(2);
    expect(ids.filter((id) => id.startsWith('unknown-'))).toHaveLength(1);
    const empty = parsed.find((line) => line.custom_id === 'empty');
    expect(empty?.response).toMatchObject({ status_code: 200, body: {} });
    expect(simulator.meter.total).toBe(2);
  });

  it('fails a [[once …]] line only the first time', async () => {
    const first = await run([chatLine('a', '[[once status 500]]')]);
    const second = await run([chatLine('a', '[[once status 500]]')]);
    expect(first.errors[0]?.response?.status_code).toBe(500);
    expect(second.output[0]?.response?.status_code).toBe(200);
    expect(simulator.meter.executedTwice()).toEqual([]);
  });
});

describe('scripted batches of OpenAI', () => {
  it('expires a batch with part of its lines finished', async () => {
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.25 });
    const { batch, output, errors } = await run(
      Array.from({ length: 8 }, (_, index) => chatLine(`r-${index}`, 'x')),
    );
    expect(batch.status).toBe('expired');
    expect(output).toHaveLength(2);
    expect(errors).toHaveLength(6);
    expect(errors[0]?.error?.code).toBe('batch_expired');
    expect(batch.request_counts).toEqual({ total: 8, completed: 2, failed: 0 });
    expect(simulator.meter.total).toBe(2);
  });

  it('fails a batch with the given errors', async () => {
    simulator.faults.nextBatch({ outcome: 'failed', errors: [{ code: 'quota', message: 'no' }] });
    const { batch } = await run([chatLine('a', 'x')]);
    expect(batch.errors?.data).toEqual([{ code: 'quota', message: 'no', line: null, param: null }]);
  });

  it('cancels a batch by itself', async () => {
    simulator.faults.nextBatch({ outcome: 'cancelled', completedFraction: 0 });
    const { batch, errors } = await run([chatLine('a', 'x')]);
    expect(batch.status).toBe('cancelled');
    expect(errors).toHaveLength(1);
  });

  it.each(['validating', 'finalizing'] as const)('stays in %s until cancelled', async (stuckIn) => {
    simulator.faults.nextBatch({ stuckIn });
    const { id } = await createBatch([chatLine('a', 'x')]);
    await expect.poll(async () => (await client.batches.retrieve(id)).status).toBe(stuckIn);
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect((await client.batches.retrieve(id)).status).toBe(stuckIn);
    await client.batches.cancel(id);
    expect((await untilEnded(id)).status).toBe('cancelled');
  });

  it('reports an unknown status and gets stuck', async () => {
    simulator.faults.nextBatch({ stuckIn: 'in_progress', unknownStatus: 'pondering' });
    const { id } = await createBatch([chatLine('a', 'x')]);
    await expect.poll(async () => (await client.batches.retrieve(id)).status).toBe('pondering');
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect((await client.batches.retrieve(id)).status).toBe('pondering');
    await client.batches.cancel(id);
    expect((await untilEnded(id)).status).toBe('cancelled');
  });
});

describe('faults on the way to OpenAI', () => {
  it('accepts a create whose answer is lost', async () => {
    simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind: 'lost' } });
    await expect(createBatch([chatLine('a', 'x')])).rejects.toThrow(OpenAI.APIConnectionError);
    const { data } = await client.batches.list();
    expect(data).toHaveLength(1);
    expect((await untilEnded(data[0]?.id ?? '')).status).toBe('completed');
    expect(simulator.countRequests('POST', '/v1/batches')).toBe(1);
    expect(simulator.requests.find((entry) => entry.fault === 'lost')?.path).toBe('/v1/batches');
  });

  it('accepts a create late', async () => {
    simulator.faults.add({ path: '/v1/batches', action: { kind: 'late', ms: hour } });
    await expect(createBatch([chatLine('a', 'x')])).rejects.toThrow(OpenAI.APIConnectionError);
    expect((await client.batches.list()).data).toHaveLength(0);
    skipHours(1);
    await expect.poll(async () => (await client.batches.list()).data.length).toBe(1);
  });

  it('accepts a create that is answered with an error, when told so', async () => {
    const action = { kind: 'status', status: 504, accept: true } as const;
    simulator.faults.add({ path: '/v1/batches', action });
    await expect(createBatch([chatLine('a', 'x')])).rejects.toThrow(OpenAI.InternalServerError);
    expect((await client.batches.list()).data).toHaveLength(1);
  });

  it('does nothing when it resets the connection or answers an error', async () => {
    simulator.faults.add({ path: '/v1/batches', action: { kind: 'reset' } });
    simulator.faults.add({ path: '/v1/batches', action: { kind: 'hang', ms: 20 } });
    simulator.faults.add({ path: '/v1/batches', action: { kind: 'reset-mid-body' } });
    simulator.faults.add({
      path: '/v1/batches',
      action: { kind: 'status', status: 429, headers: { 'retry-after': '7' } },
    });
    for (let at = 0; at < 3; at++) {
      await expect(createBatch([chatLine('a', 'x')])).rejects.toThrow(OpenAI.APIConnectionError);
    }
    const refused: InstanceType<typeof OpenAI.APIError> = await createBatch([
      chatLine('a', 'x'),
    ]).catch((e) => e);
    expect(refused).toBeInstanceOf(OpenAI.RateLimitError);
    expect(refused.headers?.get('retry-after')).toBe('7');
    expect((await client.batches.list()).data).toHaveLength(0);
  });

  it('breaks an upload in the middle and keeps no file', async () => {
    simulator.faults.add({ path: '/v1/files', action: { kind: 'reset-mid-body' } });
    await expect(upload('x'.repeat(5_000_000))).rejects.toThrow(OpenAI.APIConnectionError);
    expect((await client.files.list()).data).toHaveLength(0);
  });

  it('truncates, garbles and delays answers', async () => {
    const { batch } = await run([chatLine('a', 'x')]);
    const content = `/v1/files/${batch.output_file_id}/content`;
    simulator.faults.add({ path: content, action: { kind: 'truncate' } });
    const response = await client.files.content(batch.output_file_id ?? '');
    await expect(response.text()).rejects.toThrow();
    expect(await read(batch.output_file_id)).toHaveLength(1);
    simulator.faults.add({ path: /batches\/batch_/, action: { kind: 'garbage' } });
    expect(await client.batches.retrieve(batch.id)).not.toHaveProperty('id');
    simulator.faults.add({ path: /batches\/batch_/, action: { kind: 'delay', ms: 40 } });
    const began = Date.now();
    await client.batches.retrieve(batch.id);
    expect(Date.now() - began).toBeGreaterThanOrEqual(35);
  });
});

describe('quirks of OpenAI', () => {
  it('keeps keys and organizations apart', async () => {
    const created = await createBatch([chatLine('a', 'x')]);
    for (const stranger of [newClient('sk-two'), newClient('sk-one', { organization: 'org-2' })]) {
      expect((await stranger.batches.list()).data).toEqual([]);
      expect((await stranger.files.list()).data).toEqual([]);
      await expect(stranger.batches.retrieve(created.id)).rejects.toThrow(OpenAI.NotFoundError);
      await expect(stranger.files.retrieve(created.input_file_id)).rejects.toThrow(
        OpenAI.NotFoundError,
      );
    }
    expect(JSON.stringify(simulator.requests)).not.toContain('sk-one');
  });

  it('shows a batch in lists only after the lag, but by id at once', async () => {
    simulator.configure({ listLag: hour });
    const created = await createBatch([chatLine('a', 'x')]);
    expect((await client.batches.list()).data).toEqual([]);
    expect((await client.batches.retrieve(created.id)).id).toBe(created.id);
    skipHours(1);
    expect((await client.batches.list()).data).toHaveLength(1);
  });

  it('accompanies a create with a stranger of equal size', async () => {
    simulator.configure({ foreignBatches: true });
    const created = await createBatch([chatLine('a', 'x'), chatLine('b', 'y')]);
    const { data } = await client.batches.list();
    const foreign = data.find(({ id }) => id !== created.id);
    expect(data).toHaveLength(2);
    expect(foreign?.created_at).toBe(created.created_at);
    expect(foreign?.input_file_id).not.toBe(created.input_file_id);
    await untilEnded(created.id);
    const ended = await untilEnded(foreign?.id ?? '');
    const ids = (await read(ended.output_file_id)).map((line) => line.custom_id);
    expect(ids).toHaveLength(2);
    expect(ids).not.toContain('a');
    expect(simulator.meter.total).toBe(2);
  });

  it('can claim wrong counts, an empty error file id and late result files', async () => {
    simulator.configure({ wrongRequestCounts: true, emptyErrorFileId: true });
    simulator.configure({ resultsNotFoundReads: 1 });
    const clean = await untilEnded((await createBatch([chatLine('a', 'x')])).id);
    expect(clean.error_file_id).toBe('');
    await expect(read(clean.output_file_id)).rejects.toThrow(OpenAI.NotFoundError);
    expect(await read(clean.output_file_id)).toHaveLength(1);
    const failed = await untilEnded((await createBatch([chatLine('a', '[[status 400]]')])).id);
    expect(failed.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
  });
});

describe('realtime calls to OpenAI', () => {
  it('answers chat completions at once, whole and streamed', async () => {
    const body = { model: 'gpt-test', messages: [{ role: 'user' as const, content: 'hi' }] };
    const completion = await client.chat.completions.create(body);
    expect(completion.choices[0]?.message.content).toMatch(/^answer to "hi" from gpt-test/);
    expect(completion.usage?.total_tokens).toBeGreaterThan(0);
    const streamed = await client.chat.completions.stream(body).finalChatCompletion();
    expect(streamed.choices[0]?.message.content).toMatch(/^answer to "hi" from gpt-test/);
    expect(simulator.meter).toMatchObject({ realtime: 2, batched: 0, total: 2 });
    await expect(
      client.chat.completions.create({
        ...body,
        messages: [{ role: 'user', content: '[[status 429]]' }],
      }),
    ).rejects.toThrow(OpenAI.RateLimitError);
    expect(simulator.meter.failed).toBe(1);
  });

  it('answers the responses endpoint, whole and streamed', async () => {
    const input = [{ role: 'user' as const, content: 'hello' }];
    const response = await client.responses.create({ model: 'gpt-test', input });
    expect(response.output_text).toMatch(/^answer to "hello" from gpt-test/);
    const streamed = await client.responses.stream({ model: 'gpt-test', input }).finalResponse();
    expect(streamed.output_text).toMatch(/^answer to "hello" from gpt-test/);
  });

  it('embeds each input, alike but never the same', async () => {
    const create = (input: string | string[], dimensions?: number) =>
      client.embeddings.create({
        model: 'embed-test',
        input,
        ...(dimensions === undefined ? {} : { dimensions }),
      });
    const { data } = await create(['one', 'two']);
    expect(data).toHaveLength(2);
    expect(data[0]?.embedding).toHaveLength(8);
    const again = (await create('one')).data[0]?.embedding ?? [];
    expect(again).not.toEqual(data[0]?.embedding);
    expect(again[3]).toBeCloseTo(data[0]?.embedding[3] ?? 0, 2);
    expect((await create('one', 3)).data[0]?.embedding).toHaveLength(3);
  });
});
