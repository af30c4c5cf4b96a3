import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/core.ts';
import { type BatchScript, type Simulator, startSimulator } from '../../../src/simulator/index.ts';
import { openaiFaults } from '../../schemas/openai-referee.ts';
import {
  type Recorded,
  type RecordingProxy,
  startRecordingProxy,
} from '../../support/servers/recording-proxy.ts';
import { until } from '../../support/until.ts';

/*
 * Our client and our simulator are both written by us, from the same page: a mistake in reading it would be in
 * both. Here the schemas that OpenAI publishes judge the traffic between them.
 */

let simulator: Simulator;
let proxy: RecordingProxy;
let base: string;

beforeAll(async () => {
  const speed = { validating: 2, running: 5, finalizing: 2, cancelling: 2 };
  simulator = await startSimulator({ speed });
});
beforeEach(async () => {
  simulator.reset();
  proxy = await startRecordingProxy(simulator.url);
  base = `${proxy.url}/openai/v1`;
  return () => proxy.close();
});
afterAll(() => simulator.close());

const messages = [{ role: 'user', content: 'hello' }] as const;

/** By endpoint: what a client may ask. */
const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { model: 'gpt-test', messages },
  '/v1/responses': { model: 'gpt-test', input: 'hello' },
  '/v1/embeddings': { model: 'embed-test', input: ['hello', 'again'], encoding_format: 'float' },
  '/v1/completions': { model: 'old-test', prompt: 'hello' },
  '/v1/moderations': { model: 'omni-test', input: ['hello', 'again'] },
  '/v1/images/generations': { model: 'gpt-image-test', prompt: 'a cat' },
  '/v1/images/edits': {
    model: 'gpt-image-test',
    prompt: 'a cat with a hat',
    images: [{ image_url: 'https://example.com/cat.png' }],
  },
};

/** Which operations were spoken: a judge of nothing finds no fault. */
function spoken(exchanges: readonly Recorded[]): readonly string[] {
  const names = exchanges.map(({ method, path, reply }) => {
    const [short = ''] = path.replace(/\/(file-|batch_)[^/?]+/, '/<id>').split('?');
    return `${method} ${short.replace('/openai/v1', '')} ${reply?.status ?? 'lost'}`;
  });
  return [...new Set(names)].sort();
}

describe('what batchling says and hears, by OpenAI’s published schema', () => {
  function newScope() {
    const options = { store: ':memory:', window: '20ms', poll: '10ms', name: 'schema' } as const;
    const scope = batchify({ ...options, hosts: { [base]: 'openai' }, tags: { team: 'a' } });
    const client = new OpenAI({ apiKey: 'sk-ours', baseURL: base, fetch: scope.fetch });
    const ask = (model: string) =>
      client.chat.completions.create({ model, messages: [...messages] });
    return { scope, client, ask };
  }

  it('is right for whole lives of batches, for lists and for the deletion of files', async () => {
    const { scope, client, ask } = newScope();
    // A list pays from the third open batch on, so they stay open until one was asked for.
    simulator.hold();
    const asked = Promise.all([
      ask('one'),
      ask('two'),
      client.responses.create({ model: 'three', input: 'hello' }),
      client.embeddings.create({ model: 'four', input: 'hello' }),
    ]);
    await until(() => simulator.countRequests('GET', /\/batches$/) > 0, 'a list');
    simulator.release();
    await asked;
    await ask('alone');
    await scope.close();
    const deleted = () =>
      proxy.requests.filter(({ method, reply }) => method === 'DELETE' && reply);
    await until(() => deleted().length === 5, 'the deletion of the files');
    expect(await openaiFaults(proxy.requests)).toEqual([]);
    expect(spoken(proxy.requests)).toEqual([
      'DELETE /files/<id> 200',
      'GET /batches 200',
      'GET /batches/<id> 200',
      'GET /files/<id>/content 200',
      'POST /batches 200',
      'POST /files 200',
    ]);
  });

  const endings: BatchScript[] = [
    {
      outcome: 'failed',
      errors: [
        { code: 'token_limit_exceeded', message: 'Enqueued token limit reached.', line: null },
      ],
    },
    {
      outcome: 'failed',
      errors: [{ code: 'invalid_json_line', message: 'This line is not JSON.', line: 1 }],
    },
    { outcome: 'expired', completedFraction: 0.5 },
    { outcome: 'cancelled', completedFraction: 0.5 },
  ];
  it.each(endings)('is right for a batch that ends as $outcome', async (script) => {
    const { scope, ask } = newScope();
    simulator.faults.nextBatch(script);
    await Promise.allSettled([ask('one'), ask('one')]);
    await scope.close();
    expect(await openaiFaults(proxy.requests)).toEqual([]);
    expect(proxy.requests.map(({ reply }) => reply?.body ?? '')).toContainEqual(
      expect.stringContaining(`"status":"${script.outcome}"`),
    );
  });

  it('is right for a line that fails', async () => {
    const { scope, ask } = newScope();
    simulator.configure({ answer: () => ({ status: 400, body: 'Too rude.' }) });
    await Promise.allSettled([ask('one')]);
    await scope.close();
    expect(await openaiFaults(proxy.requests)).toEqual([]);
  });

  it('is right for a create whose reply is lost, and which is found again', async () => {
    const { scope, ask } = newScope();
    simulator.faults.add({ method: 'POST', path: '/v1/batches', action: { kind: 'lost' } });
    await ask('one');
    await scope.close();
    expect(simulator.countRequests('POST', /\/batches$/)).toBe(1);
    expect(simulator.countRequests('GET', /\/batches$/)).toBeGreaterThan(0);
    expect(await openaiFaults(proxy.requests)).toEqual([]);
  });

  it('is right for a batch that we cancel', async () => {
    const { scope, ask } = newScope();
    simulator.hold();
    const submitted = new Promise((resolve) => scope.on('batch:submitted', resolve));
    const asked = Promise.allSettled([ask('one')]);
    await submitted;
    await scope.cancel();
    simulator.release();
    await asked;
    await scope.close();
    expect(await openaiFaults(proxy.requests)).toEqual([]);
    expect(spoken(proxy.requests)).toContain('POST /batches/<id>/cancel 200');
  });
});

describe('what the simulator tells OpenAI’s own SDK, by OpenAI’s published schema', () => {
  const terminal = ['completed', 'failed', 'expired', 'cancelled'];
  let client: OpenAI;

  beforeEach(() => {
    client = new OpenAI({ apiKey: 'sk-sdk', baseURL: base, maxRetries: 0 });
  });

  async function upload(endpoint: string, requests: readonly unknown[]) {
    const text = requests.map((body, index) =>
      JSON.stringify({ custom_id: `r-${index}`, method: 'POST', url: endpoint, body }),
    );
    return client.files.create({
      file: await toFile(Buffer.from(text.join('\n')), 'lines.jsonl'),
      purpose: 'batch',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    });
  }

  async function create(endpoint: string, requests: readonly unknown[]) {
    const { id } = await upload(endpoint, requests);
    return client.batches.create({
      input_file_id: id,
      endpoint: endpoint as '/v1/responses',
      completion_window: '24h',
      metadata: { name: 'value' },
      output_expires_after: { anchor: 'created_at', seconds: 3600 },
    });
  }

  async function read(id: string) {
    let batch = await client.batches.retrieve(id);
    while (!terminal.includes(batch.status)) batch = await client.batches.retrieve(id);
    for (const file of [batch.output_file_id, batch.error_file_id]) {
      if (file) await (await client.files.content(file)).text();
    }
    return batch;
  }

  it.each(Object.entries(bodies))('is right for answers of %s', async (endpoint, body) => {
    const { id } = await create(endpoint, [body, { model: 'model' in body && body.model }]);
    const batch = await read(id);
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 });
    expect(await openaiFaults(proxy.requests)).toEqual([]);
  });

  it('is right for a tool that is called', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tool = { name: 'weather', parameters };
    const chat = { model: 'm', messages, tools: [{ type: 'function', function: tool }] };
    await read((await create('/v1/chat/completions', [chat])).id);
    const response = { model: 'm', input: 'hello', tools: [{ type: 'function', ...tool }] };
    await read((await create('/v1/responses', [response])).id);
    expect(await openaiFaults(proxy.requests)).toEqual([]);
    expect(proxy.requests.map(({ reply }) => reply?.body ?? '').join()).toContain('function_call');
  });

  it('is right for lists, single files, empty pages and refusals', async () => {
    const endpoint = '/v1/chat/completions';
    await client.batches.list();
    const { id } = await create(endpoint, [bodies[endpoint]]);
    const batch = await read(id);
    await client.files.retrieve(batch.input_file_id);
    await client.files.list({ purpose: 'batch', order: 'desc', limit: 10 });
    await client.batches.list({ limit: 1, after: id });
    await create(endpoint, [bodies[endpoint]]);
    await client.batches.list({ limit: 1 });
    await client.files.delete(batch.input_file_id);
    await Promise.allSettled([
      client.batches.cancel(id),
      client.batches.retrieve('batch_none'),
      client.batches.list({ after: 'batch_none' }),
      client.files.retrieve('file-none'),
      client.files.content('file-none'),
      client.batches.create({ input_file_id: 'none', endpoint, completion_window: '24h' }),
    ]);
    expect(await openaiFaults(proxy.requests)).toEqual([]);
    expect(spoken(proxy.requests)).toEqual([
      'DELETE /files/<id> 200',
      'GET /batches 200',
      'GET /batches 404',
      'GET /batches/<id> 200',
      'GET /batches/<id> 404',
      'GET /files 200',
      'GET /files/<id> 200',
      'GET /files/<id> 404',
      'GET /files/<id>/content 200',
      'GET /files/<id>/content 404',
      'POST /batches 200',
      'POST /batches 400',
      'POST /batches/<id>/cancel 409',
      'POST /files 200',
    ]);
  });
});
