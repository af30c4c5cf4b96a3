import { APIError } from '@anthropic-ai/sdk';
import { ApiError } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { allOf } from '../../support/all-of.ts';
import { startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import { hurried } from '../google/google-stage.ts';
import {
  askClaude,
  askGemini,
  bucket,
  openVertexStage,
  token,
  type VertexStage,
} from './vertex-stage.ts';

let stage: VertexStage;

beforeAll(async () => {
  stage = await openVertexStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const place = '/v1/projects/my-project/locations/us-central1';
const geminiPath = `${place}/publishers/google/models/gemini-test:generateContent`;
const claudePath = `${place}/publishers/anthropic/models/claude-test`;

function post(url: string, body: string) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return fetch(url, { method: 'POST', headers, body });
}

/** As programs may write them: fields in their own order, numbers as they spell them, fields yet to come. */
const strange =
  '"zeta":{"nested":[1.0,1e-7,12345678901234567890]},"2":1,"1":"ü \\u0041 “ä” \u2028",' +
  '"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":' +
  '{"b":{"type":"STRING"},"a":{"type":"NUMBER"}}}}]}]';
const contents = '"contents":[{"role":"user","parts":[{"text":"hello"}]}]';
const messages = '"max_tokens":64,"messages":[{"role":"user","content":"hello"}]';

describe('the body of a call', () => {
  const label = '"batchling-id":"[a-z2-7]{61}"';
  const exactly = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

  it.each([
    [
      'of Gemini gets a label, and stays as it is',
      geminiPath,
      `{${strange},${contents}}`,
      new RegExp(`"request":\\{"labels":\\{${label}\\},${exactly(`${strange},${contents}}`)}`),
    ],
    [
      'of Gemini keeps its own labels',
      geminiPath,
      `{"labels":{"team":"search"},${contents}}`,
      new RegExp(`"request":\\{"labels":\\{"team":"search",${label}\\},${exactly(contents)}\\}`),
    ],
    [
      'of Claude loses `stream`, and nothing else',
      `${claudePath}:streamRawPredict`,
      `{"anthropic_version":"vertex-2023-10-16","stream":true,${strange},${messages}}`,
      new RegExp(
        `"request":${exactly(`{"anthropic_version":"vertex-2023-10-16",${strange},${messages}}`)}\\}`,
      ),
    ],
  ])('%s', async (_what, path, body, expected) => {
    const proxy = await startRecordingProxy(stage.simulator.url);
    onTestFinished(() => proxy.close());
    const base = `${proxy.url}/vertex`;
    const response = await batchify(
      () => post(`${base}${path}`, body),
      stage.vertexOptions({}, base),
    );
    expect(response.status).toBe(200);
    const upload = proxy.requests.find(({ path: to }) => to.includes('/upload/storage/'));
    expect(upload?.body).toMatch(expected);
    expect(stage.simulator.meter).toMatchObject({ total: 1, batched: 1 });
  });
});

describe('an answer', () => {
  it('of Gemini comes back to its caller, streamed or not', async () => {
    const client = stage.gemini();
    const asked = { model: 'gemini-test', contents: 'tell me' };
    const [one, two, chunks] = await batchify(
      () =>
        Promise.all([
          askGemini(client, 'one'),
          askGemini(client, 'two'),
          client.models.generateContentStream(asked).then(allOf),
        ]),
      stage.vertexOptions(),
    );
    expect(one).toContain('answer to "one" from gemini-test');
    expect(two).toContain('answer to "two"');
    expect(chunks.map(({ text }) => text).join('')).toContain('answer to "tell me"');
    expect(stage.simulator.meter).toMatchObject({ total: 3, batched: 3 });
    expect(stage.simulator.batches()).toMatchObject([{ provider: 'vertex', requests: 3 }]);
  });

  it('of Claude comes back to its caller, streamed or not', async () => {
    const client = stage.claude();
    const model = 'claude-test@20261021';
    const asked = {
      model,
      max_tokens: 64,
      messages: [{ role: 'user', content: 'tell me' }],
    } as const;
    const [one, streamed] = await batchify(
      () =>
        Promise.all([
          askClaude(client, 'one'),
          client.messages.stream({ ...asked, messages: [...asked.messages] }).finalMessage(),
        ]),
      stage.vertexOptions(),
    );
    expect(one).toContain(`answer to "one" from ${model}`);
    expect(streamed).toMatchObject({ model, usage: { input_tokens: expect.any(Number) } });
    expect(streamed.content[0]).toMatchObject({ text: expect.stringContaining('tell me') });
    expect(stage.simulator.batches()).toMatchObject([{ requests: 2 }]);
  });

  it('of models of both kinds comes from jobs of their own', async () => {
    await batchify(
      () => Promise.all([askGemini(stage.gemini(), 'one'), askClaude(stage.claude(), 'two')]),
      stage.vertexOptions(),
    );
    expect(stage.simulator.batches().map(({ requests }) => requests)).toEqual([1, 1]);
  });
});

const statuses = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503];

describe('a request that fails', () => {
  it.each(statuses)('with %i raises the error of the SDK of Gemini, once', async (status) => {
    const client = stage.gemini();
    const failed = await batchify(
      () => askGemini(client, `bad [[status ${status}]]`).catch((error: unknown) => error),
      stage.vertexOptions({ attempts: 1, clock: hurried() }),
    );
    expect(failed).toBeInstanceOf(ApiError);
    expect(failed).toMatchObject({
      status,
      message: expect.stringContaining(`simulated status ${status}`),
    });
    expect(stage.simulator.meter).toMatchObject({ total: 0, failed: 1, realtime: 0 });
  });

  it.each(statuses)('with %i raises the error of the SDK of Claude, once', async (status) => {
    const client = stage.claude({ maxRetries: 2 });
    const failed = await batchify(
      () => askClaude(client, `bad [[status ${status}]]`).catch((error: unknown) => error),
      stage.vertexOptions({ attempts: 1, clock: hurried() }),
    );
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({
      status,
      message: expect.stringContaining(`simulated status ${status}`),
    });
    expect(stage.simulator.meter).toMatchObject({ total: 0, failed: 1, realtime: 0 });
  });
});

describe('a call that has no batch', () => {
  async function bypassed(path: string, body: string) {
    const reasons: string[] = [];
    const scope = batchify(stage.vertexOptions({ bypass: 'ignore' }));
    scope.on('call:bypassed', ({ reason }) => void reasons.push(reason));
    const response = await scope.run(() => post(`${stage.base}${path}`, body));
    await scope.close();
    return { status: response.status, reasons };
  }

  it.each([
    [
      'express mode',
      '/v1/publishers/google/models/gemini-test:generateContent',
      `{${contents}}`,
      'express mode',
    ],
    ['cached content', geminiPath, `{"cachedContent":"c/1",${contents}}`, 'cachedContent'],
    [
      'Claude in the location global',
      `${claudePath.replace('us-central1', 'global')}:rawPredict`,
      `{"anthropic_version":"vertex-2023-10-16",${messages}}`,
      'global',
    ],
  ])('because of %s goes out as it is, with the reason', async (_what, path, body, reason) => {
    const { status, reasons } = await bypassed(path, body);
    expect(status).toBe(200);
    expect(reasons).toEqual([expect.stringContaining(reason)]);
    expect(stage.simulator.meter).toMatchObject({ total: 1, realtime: 1 });
  });

  it('because no bucket is set is told which setting is missing', async () => {
    const failed = await batchify(
      () => askGemini(stage.gemini(), 'one').catch((error: unknown) => error),
      { ...stage.vertexOptions(), providers: {} },
    );
    expect(failed).toBeInstanceOf(ApiError);
    expect(failed).toMatchObject({ message: expect.stringContaining("bucket: 'gs://") });
    expect(stage.simulator.requests).toEqual([]);
  });

  it('because no bucket is set is told the same in the flex lane, which its location does not have', async () => {
    const response = await batchify(
      () => post(`${stage.simulator.baseUrl('vertex')}${geminiPath}`, `{${contents}}`),
      { ...stage.vertexOptions(), lane: 'flex', providers: {} },
    );
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("bucket: 'gs://");
    expect(stage.simulator.requests).toEqual([]);
  });
});

it('a bucket that is none is refused at once', () => {
  const options = stage.vertexOptions({ providers: { vertex: { bucket: 's3://mine' } } });
  expect(() => batchify(options)).toThrow('vertex.bucket must be a bucket of Cloud Storage');
  expect(bucket).toMatch(/^gs:/);
});
