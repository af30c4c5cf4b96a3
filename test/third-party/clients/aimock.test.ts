import { LLMock } from '@copilotkit/aimock';
import OpenAI, { APIError } from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchingContext, batchify } from '../../../src/core.ts';

const mock = new LLMock({ port: 0 });
let base: string;
let run = 0;
let cleanup: boolean;

beforeAll(async () => {
  await mock.start();
  base = `${mock.url}/v1`;
});
beforeEach(() => {
  mock.reset();
  run += 1;
});
// What is left of a batch when its scope closes would come in the midst of the next test.
afterEach(async () => {
  const count = (line: string) => journal().filter((other) => other === line).length;
  const uploads = count('POST /v1/files 200');
  if (cleanup) await expect.poll(() => count('DELETE /v1/files/file 200')).toBe(uploads);
});
afterAll(() => mock.stop());

function openScope(options: { attempts?: number; cleanup?: boolean } = {}): BatchingContext {
  cleanup = options.cleanup ?? true;
  return batchify({
    store: ':memory:',
    cache: false,
    window: '20ms',
    poll: '10ms',
    hosts: { [base]: 'openai' },
    ...options,
  });
}

function clientOf(scope: BatchingContext, headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({
    apiKey: 'sk-mock',
    baseURL: base,
    maxRetries: 0,
    fetch: scope.fetch,
    defaultHeaders: headers,
  });
}

/** A prompt that no other test has asked: the memory of the process is shared. */
function ask(client: OpenAI, prompt: string) {
  return client.chat.completions.create({
    model: 'gpt-5',
    messages: [{ role: 'user', content: `${run} ${prompt}` }],
  });
}

/** What reached the server, as its journal tells it. */
function journal(): string[] {
  return mock.getRequests().map(({ method, path, response }) => {
    const place = path.replace(/\/(file|batch)-[^/?]+/g, '/$1').replace(/\?.*/, '');
    return `${method} ${place} ${response.status}`;
  });
}

describe('a server that is not ours', () => {
  it('takes the file, the batch and the clean-up, and its answers reach the callers', async () => {
    const scope = openScope();
    const client = clientOf(scope);
    const prompts = Array.from(
      { length: 20 },
      (_, index) => `prompt ${index} z\u00fcrich \ud83d\ude00`,
    );
    const answers = await Promise.all(prompts.map((prompt) => ask(client, prompt)));
    await scope.close();
    expect(answers.map(({ model }) => model)).toEqual(prompts.map(() => 'gpt-5'));
    for (const { choices } of answers) {
      expect(choices[0]?.message.content).toBe('Mock batch completion');
    }
    expect(new Set(answers.map(({ id }) => id)).size).toBe(20);
    expect(scope.stats).toMatchObject({ captured: 20, answered: 20, failed: 0 });
    const seen = journal();
    expect(seen.filter((line) => line === 'POST /v1/files 200')).toHaveLength(1);
    expect(seen.filter((line) => line === 'POST /v1/batches 200')).toHaveLength(1);
    expect(seen).toContain('GET /v1/batches/batch 200');
    expect(seen).toContain('GET /v1/files/file/content 200');
    await expect.poll(journal).toContain('DELETE /v1/files/file 200');
    expect(seen.filter((line) => !line.endsWith(' 200'))).toEqual([]);
  });

  it('finds in the file what the SDK has sent', async () => {
    const scope = openScope({ cleanup: false });
    await Promise.all(['first', 'second'].map((prompt) => ask(clientOf(scope), prompt)));
    await scope.close();
    const plain = new OpenAI({ apiKey: 'sk-mock', baseURL: base });
    const [file] = (await plain.files.list({ purpose: 'batch' })).data;
    expect(file).toMatchObject({ purpose: 'batch', filename: expect.stringMatching(/\.jsonl$/) });
    const content = await (await plain.files.content(file?.id ?? '')).text();
    expect(file?.bytes).toBe(Buffer.byteLength(content));
    const lines = content
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toEqual(
      ['first', 'second'].map((prompt) => ({
        custom_id: expect.stringMatching(/^[\w-]{1,64}$/),
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model: 'gpt-5', messages: [{ role: 'user', content: `${run} ${prompt}` }] },
      })),
    );
  });

  it('answers responses and embeddings in their own shape', async () => {
    const scope = openScope();
    const client = clientOf(scope);
    const [response, embedding] = await Promise.all([
      client.responses.create({ model: 'gpt-5', input: `${run} hello` }),
      client.embeddings.create({
        model: 'text-embedding-3-small',
        input: `${run} hello`,
        encoding_format: 'float',
      }),
    ]);
    await scope.close();
    expect(response.output_text).toBe('Mock batch completion');
    expect(embedding.data[0]?.embedding).toEqual([0, 0, 0]);
    expect(journal().filter((line) => line === 'POST /v1/batches 200')).toHaveLength(2);
  });

  it.each([
    ['failed', 502, 1],
    ['expired', 504, 2],
    ['cancelled', 499, 1],
  ])('that lets a batch end as %s gives every caller status %i', async (outcome, status, sent) => {
    const scope = openScope({ attempts: outcome === 'failed' ? 1 : 3 });
    const client = clientOf(scope, { 'x-aimock-batch-outcome': outcome });
    const errors = await Promise.all(
      ['first', 'second'].map((prompt) => ask(client, prompt).catch((error: unknown) => error)),
    );
    await scope.close();
    for (const error of errors) {
      expect(error).toBeInstanceOf(APIError);
      expect(error).toMatchObject({ status });
    }
    expect(scope.stats).toMatchObject({ answered: 2, failed: 2 });
    expect(journal().filter((line) => line === 'POST /v1/batches 200')).toHaveLength(sent);
  });

  it('is asked to cancel its batch when the scope is', async () => {
    const scope = openScope();
    const submitted = new Promise((resolve) => scope.on('batch:submitted', resolve));
    const asked = ask(clientOf(scope), 'never').catch((error: unknown) => error);
    await submitted;
    await scope.cancel();
    expect(await asked).toMatchObject({ status: 499 });
    await scope.close();
    await expect.poll(journal).toContain('POST /v1/batches/batch/cancel 200');
  });
});
