import Groq, { toFile } from 'groq-sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Simulator, startSimulator } from '../../../src/simulator/index.ts';

let simulator: Simulator;
let client: Groq;

beforeAll(async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  simulator = await startSimulator({ speed });
  client = new Groq({ apiKey: 'gsk-one', baseURL: `${simulator.url}/groq`, maxRetries: 0 });
});
beforeEach(() => simulator.reset());
afterAll(() => simulator.close());

function chatLine(id: string, content: string, url = '/v1/chat/completions') {
  const body = { model: 'llama-test', messages: [{ role: 'user', content }] };
  return { custom_id: id, method: 'POST', url, body };
}

async function upload(lines: readonly object[]) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const file = await toFile(Buffer.from(text), 'batch.jsonl');
  return client.files.create({ file, purpose: 'batch' });
}

async function createBatch(lines: readonly object[], completionWindow: string = '24h') {
  const { id } = await upload(lines);
  return client.batches.create({
    // The type of the upload leaves open whether there is an id.
    input_file_id: id as string,
    endpoint: '/v1/chat/completions',
    completion_window: completionWindow,
    metadata: { run: 'one' },
  });
}

const terminal = ['completed', 'failed', 'expired', 'cancelled'];

async function untilEnded(id: string) {
  await expect
    .poll(async () => terminal.includes((await client.batches.retrieve(id)).status))
    .toBe(true);
  return client.batches.retrieve(id);
}

async function read(fileId: string | undefined) {
  if (!fileId) return [];
  const text = await (await client.files.content(fileId)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the SDK of Groq meets a Groq', () => {
  it('that takes a batch from its upload to its results', async () => {
    const lines = [chatLine('a', 'one'), chatLine('b', 'two'), chatLine('c', '[[status 400]]')];
    const created = await createBatch(lines, '7d');
    expect(created).toMatchObject({
      object: 'batch',
      status: 'validating',
      completion_window: '7d',
      metadata: { run: 'one' },
    });
    const batch = await untilEnded(created.id);
    expect(batch).toMatchObject({
      status: 'completed',
      errors: null,
      request_counts: { total: 3, completed: 2, failed: 1 },
    });
    const output = await read(batch.output_file_id);
    expect(output.map(({ custom_id: id }) => id).sort()).toEqual(['a', 'b']);
    expect(output[0]).toMatchObject({ error: null, response: { status_code: 200 } });
    const errors = await read(batch.error_file_id);
    expect(errors).toMatchObject([{ custom_id: 'c', response: { status_code: 400 } }]);
    expect(simulator.meter.total).toBe(2);
  });

  it('that stores, shows, lists and deletes files', async () => {
    const { id } = await upload([chatLine('a', 'one')]);
    expect(id).toMatch(/^file_/);
    expect(await client.files.info(id as string)).toMatchObject({ id, purpose: 'batch' });
    expect((await client.files.list()).data?.map((file) => file.id)).toEqual([id]);
    expect(await client.files.delete(id as string)).toMatchObject({ id, deleted: true });
    await expect(client.files.info(id as string)).rejects.toThrow(Groq.NotFoundError);
  });

  it('that cancels', async () => {
    simulator.hold();
    const { id } = await createBatch([chatLine('a', 'one')]);
    expect((await client.batches.cancel(id)).status).toBe('cancelling');
    expect((await untilEnded(id)).status).toBe('cancelled');
    expect(simulator.meter.total).toBe(0);
  });

  it('that lists by cursor, and shows named batches', async () => {
    simulator.hold();
    const ids: string[] = [];
    for (let at = 0; at < 22; at += 1) ids.unshift((await createBatch([chatLine('a', 'x')])).id);
    const first = await page({});
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 20));
    const second = await page({ cursor: first.paging.next_cursor });
    expect(second.data.map(({ id }) => id)).toEqual(ids.slice(20));
    expect(second.paging.next_cursor).toBeNull();
    // The SDK has no way to name a parameter twice.
    const url = `${simulator.baseUrl('groq')}/batches?id=${ids[3]}&id=${ids[21]}&id=batch_none`;
    const response = await fetch(url, { headers: { authorization: 'Bearer gsk-one' } });
    const named = (await response.json()) as Page;
    expect(named.data.map(({ id }) => id)).toEqual([ids[3], ids[21]]);
  });

  it('that names bad lines in a bare array', async () => {
    const { id } = await createBatch([chatLine('a', 'x', '/openai/v1/chat/completions')]);
    const batch = await untilEnded(id);
    expect(batch.status).toBe('failed');
    expect(batch.errors).toMatchObject([{ code: 'url_mismatch', line: 1 }]);
  });

  it.each([
    ['a window that is too short', { completion_window: '23h' }],
    ['a window that is too long', { completion_window: '8d' }],
    ['its online path', { endpoint: '/openai/v1/chat/completions' }],
    ['a field of OpenAI’s', { output_expires_after: { anchor: 'created_at', seconds: 3600 } }],
  ])('that refuses a create with %s', async (_what, change) => {
    const { id } = await upload([chatLine('a', 'x')]);
    const body = {
      input_file_id: id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      ...change,
    };
    const creating = client.batches.create(body as Groq.BatchCreateParams);
    await expect(creating).rejects.toThrow(Groq.BadRequestError);
  });
});

/** Its types know nothing of pages. */
async function page(query: Record<string, unknown>): Promise<Page> {
  return (await client.batches.list({ query })) as unknown as Page;
}

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly paging: { readonly next_cursor: string | null };
}
