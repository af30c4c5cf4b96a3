import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

let simulator: Simulator;

const speed = { validating: 5, running: 10, finalizing: 5, cancelling: 5 };
const day = 86_400;
const token = `${btoa('{"alg":"none"}')}.${btoa('{"iss":"entra","sub":"me"}')}.signature`;

beforeAll(async () => {
  simulator = await startSimulator({ speed });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

const plain = { maxRetries: 0, organization: null, project: null };

function newer(apiKey = 'key-one'): OpenAI {
  return new OpenAI({ ...plain, apiKey, baseURL: simulator.baseUrl('azure') });
}

function older(apiVersion = '2024-10-21', apiKey = 'key-one'): AzureOpenAI {
  return new AzureOpenAI({ ...plain, apiKey, apiVersion, endpoint: `${simulator.url}/azure` });
}

function withEntra(): AzureOpenAI {
  const azureADTokenProvider = () => Promise.resolve(token);
  const endpoint = `${simulator.url}/azure`;
  return new AzureOpenAI({ ...plain, azureADTokenProvider, apiVersion: '2024-10-21', endpoint });
}

function lineOf(id: string, content: string, url: string, model = 'gpt-batch') {
  const question = url.endsWith('/responses')
    ? { input: content }
    : { messages: [{ role: 'user', content }] };
  return { custom_id: id, method: 'POST', url, body: { model, ...question } };
}

async function upload(client: OpenAI, lines: readonly object[] | string, seconds?: number) {
  const text =
    typeof lines === 'string' ? lines : lines.map((line) => JSON.stringify(line)).join('\n');
  const expires = seconds && { expires_after: { anchor: 'created_at' as const, seconds } };
  const file = await toFile(Buffer.from(text), 'batch.jsonl');
  return client.files.create({ file, purpose: 'batch', ...expires });
}

async function createBatch(client: OpenAI, lines: readonly object[], endpoint: string) {
  const { id } = await upload(client, lines);
  return client.batches.create({
    input_file_id: id,
    endpoint: endpoint as '/v1/chat/completions',
    completion_window: '24h',
    metadata: { run: 'one' },
  });
}

async function untilEnded(client: OpenAI, id: string): Promise<OpenAI.Batch> {
  const terminal = /^(completed|failed|expired|cancelled)$/i;
  let batch = await client.batches.retrieve(id);
  await expect
    .poll(async () => {
      batch = await client.batches.retrieve(id);
      return batch.status;
    })
    .toMatch(terminal);
  return batch;
}

async function read(client: OpenAI, id: string | undefined): Promise<string> {
  return (await client.files.content(id ?? '')).text();
}

describe.each([
  ['the newer API', newer, '/openai/v1', '/v1/chat/completions', '/v1/chat/completions'],
  ['the older API', older, '/openai', '/chat/completions', '/chat/completions'],
  ['the older API with a token', withEntra, '/openai', '/chat/completions', '/v1/chat/completions'],
])('%s of Azure', (_what, connect, root, url, endpoint) => {
  it('goes from upload to results, with an empty error file, and cleans up', async () => {
    const client = connect();
    const lines = ['a', 'b', 'c'].map((id) => lineOf(id, `q-${id}`, url));
    const created = await createBatch(client, lines, endpoint);
    expect(created).toMatchObject({ object: 'batch', status: 'validating', endpoint });
    const batch = await untilEnded(client, created.id);
    expect(batch).toMatchObject({
      status: 'completed',
      metadata: { run: 'one' },
      request_counts: { total: 3, completed: 3, failed: 0 },
    });
    expect(await read(client, batch.error_file_id)).toBe('');
    const output = (await read(client, batch.output_file_id)).trimEnd().split('\n');
    expect(output.map((line) => JSON.parse(line).custom_id).sort()).toEqual(['a', 'b', 'c']);
    const listed = await client.batches.list({ limit: 1 });
    expect(listed.data.map(({ id }) => id)).toEqual([batch.id]);
    await client.files.delete(batch.input_file_id);
    await expect(client.files.retrieve(batch.input_file_id)).rejects.toThrow(OpenAI.NotFoundError);
    for (const { path } of simulator.requests) expect(path).toMatch(new RegExp(`^${root}/[fb]`));
  });

  it('cancels a batch', async () => {
    const client = connect();
    simulator.hold();
    const { id } = await createBatch(client, [lineOf('a', 'x', url)], endpoint);
    expect((await client.batches.cancel(id)).status).toMatch(/^cancell/);
    expect((await untilEnded(client, id)).status).toBe('cancelled');
    expect(simulator.meter.total).toBe(0);
  });

  it('lists page by page', async () => {
    const client = connect();
    for (const id of ['a', 'b', 'c']) await createBatch(client, [lineOf(id, 'x', url)], endpoint);
    const ids: string[] = [];
    for await (const batch of client.batches.list({ limit: 2 })) ids.push(batch.id);
    expect(new Set(ids).size).toBe(3);
  });

  it('answers at once too', async () => {
    const client = connect();
    const messages = [{ role: 'user' as const, content: 'hi' }];
    const { model } = await client.chat.completions.create({ model: 'gpt-online', messages });
    expect(model).toBe('gpt-online');
    const response = await client.responses.create({ model: 'gpt-online', input: 'hello' });
    expect(response.output_text).toContain('hello');
  });
});

describe('both APIs of Azure', () => {
  it('show the same files and batches', async () => {
    const lines = [lineOf('a', 'x', '/v1/chat/completions')];
    const { id, input_file_id: fileId } = await createBatch(newer(), lines, '/chat/completions');
    expect((await untilEnded(older(), id)).status).toBe('completed');
    expect((await older().files.retrieve(fileId)).id).toBe(fileId);
    await expect(older('2024-10-21', 'key-two').batches.retrieve(id)).rejects.toThrow('404');
  });

  it('show capitals, dates and other lists in early versions', async () => {
    const early = older('2024-07-01-preview');
    const created = await createBatch(
      early,
      [lineOf('a', 'x', '/chat/completions')],
      '/chat/completions',
    );
    expect(created).toMatchObject({ status: 'Validating', request_counts: { total: null } });
    expect(created.created_at).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect((await untilEnded(early, created.id)).status).toBe('Completed');
    const list: unknown = await early.get('/batches');
    expect(list).toMatchObject({ value: [{ id: created.id }] });
  });

  it('take responses in a batch of chat completions, and by no other name', async () => {
    const lines = [lineOf('a', 'x', '/v1/responses')];
    const { id } = await createBatch(newer(), lines, '/v1/chat/completions');
    const { output_file_id: output } = await untilEnded(newer(), id);
    expect(await read(newer(), output)).toContain('"object":"response"');
    await expect(createBatch(newer(), lines, '/v1/responses')).rejects.toMatchObject({
      status: 400,
    });
    const mixed = await createBatch(newer(), lines, '/chat/completions');
    expect((await untilEnded(newer(), mixed.id)).errors?.data?.[0]?.code).toBe('url_mismatch');
  });
});

describe('files of Azure', () => {
  it('have an end from 14 to 30 days, or none', async () => {
    const kept = await upload(newer(), '{}', 14 * day);
    expect(kept.expires_at).toBe(kept.created_at + 14 * day);
    expect((await upload(newer(), '{}')).expires_at).toBeNull();
    await expect(upload(newer(), '{}', day)).rejects.toThrow(OpenAI.BadRequestError);
  });

  it('are counted apart by whether they have one', async () => {
    simulator.configure({ limits: { azure: { files: 1 } } });
    await upload(newer(), '{}');
    await expect(upload(newer(), '{}')).rejects.toMatchObject({ code: 'quotaExceeded' });
    // There is room for twenty times as many that have one.
    for (let at = 0; at < 20; at += 1) await upload(newer(), '{}', 14 * day);
    const oneMore = upload(newer(), '{}', 14 * day);
    await expect(oneMore).rejects.toMatchObject({ code: 'quotaExceeded' });
  });

  it('are processed before a batch can be made of them', async () => {
    simulator.configure({ fileProcessing: 3_600_000 });
    const lines = [lineOf('a', 'x', '/v1/chat/completions')];
    const creating = createBatch(newer(), lines, '/v1/chat/completions');
    await expect(creating).rejects.toThrow('400 The file');
    expect((await newer().files.list()).data).toMatchObject([{ status: 'pending' }]);
    simulator.configure({ fileProcessing: 0 });
    expect((await newer().files.list()).data).toMatchObject([{ status: 'processed' }]);
  });

  it('have to name their content type', async () => {
    const part = (name: string, more = '') =>
      `--b\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const send = (type: string) =>
      fetch(`${simulator.baseUrl('azure')}/files`, {
        method: 'POST',
        headers: { 'api-key': 'key-one', 'content-type': 'multipart/form-data; boundary=b' },
        body: `${part('purpose')}batch\r\n${part('file', `; filename="a.jsonl"${type}`)}{}\r\n--b--\r\n`,
      }).then(({ status }) => status);
    expect(await send('')).toBe(400);
    expect(await send('\r\ncontent-type: application/octet-stream')).toBe(200);
  });

  it('are no good with a byte order mark', async () => {
    expect((await upload(newer(), '\ufeff{}')).status).toBe('error');
  });
});

describe('what Azure refuses', () => {
  it('is a call without a version, with a wrong one, or with a key as a token', async () => {
    const at = (path: string, headers: Record<string, string>) =>
      fetch(`${simulator.url}/azure${path}`, { headers }).then(({ status }) => status);
    const key = { 'api-key': 'key-one' };
    const bearer = { authorization: 'Bearer key-one' };
    expect(await at('/openai/batches', key)).toBe(404);
    expect(await at('/openai/batches?api-version=preview', key)).toBe(404);
    expect(await at('/openai/batches?api-version=2024-10-21', key)).toBe(200);
    expect(await at('/openai/batches?api-version=2024-10-21', bearer)).toBe(401);
    expect(await at('/openai/v1/batches?api-version=2024-10-21', key)).toBe(400);
    expect(await at('/openai/v1/batches?api-version=preview', key)).toBe(200);
    expect(await at('/openai/v1/batches', bearer)).toBe(200);
    expect(await at('/openai/v1/deployments/d/batches', key)).toBe(404);
  });

  it('is a deployment that is not there, which fails the batch', async () => {
    simulator.configure({ models: ['gpt-batch'] });
    const lines = [lineOf('a', 'x', '/v1/chat/completions', 'gpt-online')];
    const { id } = await createBatch(newer(), lines, '/v1/chat/completions');
    const { status, errors } = await untilEnded(newer(), id);
    expect([status, errors?.data?.[0]?.code]).toEqual(['failed', 'model_not_found']);
  });
});
