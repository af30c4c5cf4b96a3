import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { ApiError } from '@google/genai';
import { generateText, streamText } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { allOf } from '../../support/all-of.ts';
import { startRecordingProxy } from '../../support/servers/recording-proxy.ts';
import {
  askGemini,
  type GoogleStage,
  hurried,
  manyPrompts,
  openGoogleStage,
} from './google-stage.ts';

let stage: GoogleStage;

beforeAll(async () => {
  stage = await openGoogleStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** As a program may write it: fields in its own order, numbers as it spells them, fields yet to come. */
function strangeBody(text: string): string {
  return (
    '{"zeta":{"nested":[1.0,1e-7,12345678901234567890]},"generationConfig":{"temperature":1.0,' +
    '"topP":1e-7,"seed":7,"stopSequences":["\\u0041","ü"],"thinkingConfig":{"thinkingBudget":0}},' +
    `"contents":[{"role":"user","parts":[{"text":${JSON.stringify(text)}}]}],` +
    '"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":' +
    '{"b":{"type":"STRING"},"a":{"type":"NUMBER"}}}}]}],"toolConfig":{"functionCallingConfig":' +
    '{"mode":"NONE"}},"safetySettings":[],"cachedContent":"cachedContents/1","2":1,"1":2}'
  );
}

describe('the body of a call', () => {
  it.each([
    ['in the create', 2],
    ['in a file', 25],
  ])('travels byte for byte %s', async (_way, count) => {
    const proxy = await startRecordingProxy(stage.simulator.url);
    onTestFinished(() => proxy.close());
    const bodies = manyPrompts(count).map((prompt) => strangeBody(`${prompt} “ä” \u2028`));
    const base = `${proxy.url}/google`;
    const responses = await batchify(
      () =>
        Promise.all(
          bodies.map((body) =>
            fetch(`${base}/v1beta/models/gemini-test:generateContent`, {
              method: 'POST',
              headers: { 'content-type': 'application/json', 'x-goog-api-key': 'k-1' },
              body,
            }),
          ),
        ),
      stage.googleOptions({}, base),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    const sent = proxy.requests.map(({ body }) => body).join('\n');
    for (const body of bodies) expect(sent).toContain(`"request":${body}`);
    expect(stage.simulator.batches()).toMatchObject([{ provider: 'google', requests: count }]);
  });
});

describe('an answer', () => {
  it('comes back to its caller, whether its batch was small or large', async () => {
    for (const prompts of [['one', 'two'], manyPrompts()]) {
      const client = stage.google();
      const answers = await batchify(
        () => Promise.all(prompts.map((prompt) => askGemini(client, prompt))),
        stage.googleOptions(),
      );
      for (const [at, answer] of answers.entries()) {
        expect(answer).toContain(`answer to "${prompts[at]}" from gemini-test`);
      }
    }
    const uploads = stage.simulator.countRequests('POST', '/upload/v1beta/files');
    expect(uploads).toBe(2);
    expect(stage.simulator.meter).toMatchObject({ total: 27, batched: 27 });
  });

  it('is streamed to a caller who asks for a stream, and shared with one who does not', async () => {
    const client = stage.google();
    const store = stage.newStore();
    const asked = { model: 'gemini-test', contents: 'tell me' };
    const whole = await batchify(
      () => askGemini(client, 'tell me'),
      stage.googleOptions({ store }),
    );
    process.env.BATCHLING_RUN = 'a-later-run';
    onTestFinished(() => void delete process.env.BATCHLING_RUN);
    const chunks = await batchify(
      async () => allOf(await client.models.generateContentStream(asked)),
      stage.googleOptions({ store }),
    );
    expect(chunks.map(({ text }) => text).join('')).toBe(whole);
    expect(chunks.at(-1)?.usageMetadata?.totalTokenCount).toBeGreaterThan(0);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('continues a chat, streamed or not', async () => {
    const chat = stage.google().chats.create({ model: 'gemini-test' });
    const text = await batchify(async () => {
      await chat.sendMessage({ message: 'first' });
      const chunks = await allOf(await chat.sendMessageStream({ message: 'second' }));
      return chunks.map((chunk) => chunk.text).join('');
    }, stage.googleOptions());
    expect(text).toContain('answer to "second"');
    const roles = chat.getHistory().map(({ role }) => role);
    expect(roles.slice(0, 4)).toEqual(['user', 'model', 'user', 'model']);
  });

  it('reaches the AI SDK, streamed or not', async () => {
    const google = createGoogleGenerativeAI({ apiKey: 'k-ai', baseURL: `${stage.base}/v1beta` });
    const asked = { model: google('gemini-test'), prompt: 'hello', maxRetries: 0 };
    const [generated, streamed] = await batchify(
      async () => [(await generateText(asked)).text, await streamText(asked).text],
      stage.googleOptions(),
    );
    expect([generated, streamed]).toEqual([
      expect.stringContaining('answer to "hello"'),
      expect.stringContaining('answer to "hello"'),
    ]);
    expect(stage.simulator.meter).toMatchObject({ total: 2, batched: 2 });
  });

  it('without `alt=sse` is the array that Gemini streams then', async () => {
    const response = await batchify(
      () =>
        fetch(`${stage.base}/v1beta/models/gemini-test:streamGenerateContent`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-goog-api-key': 'k-1' },
          body: JSON.stringify({ contents: [{ parts: [{ text: 'hi' }] }] }),
        }),
      stage.googleOptions(),
    );
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject([{ candidates: [{ finishReason: 'STOP' }] }]);
  });
});

describe('a request that fails', () => {
  it.each([
    [400, 'INVALID_ARGUMENT'],
    [401, 'UNAUTHENTICATED'],
    [403, 'PERMISSION_DENIED'],
    [404, 'NOT_FOUND'],
    [409, 'ABORTED'],
    [413, 'UNKNOWN'],
    [422, 'UNKNOWN'],
    [429, 'RESOURCE_EXHAUSTED'],
    [500, 'INTERNAL'],
    [501, 'UNIMPLEMENTED'],
    [503, 'UNAVAILABLE'],
  ])('with %i raises the error of the SDK, once', async (status, name) => {
    const retryOptions = { attempts: 3, initialDelay: 0.001, maxDelay: 0.001 };
    const httpOptions = { baseUrl: stage.base, retryOptions };
    const client = stage.google({ apiKey: 'k-1', httpOptions });
    const given = stage.googleOptions({ attempts: 1, clock: hurried() });
    const failed = await batchify(
      () => askGemini(client, `bad [[status ${status}]]`).catch((error: unknown) => error),
      given,
    );
    expect(failed).toBeInstanceOf(ApiError);
    expect((failed as ApiError).status).toBe(status);
    expect(JSON.parse((failed as ApiError).message)).toMatchObject({
      error: { code: status, status: name, message: `simulated status ${status}` },
    });
    // The SDK asks again, and is told the same without paying again.
    expect(stage.simulator.meter).toMatchObject({ total: 0, failed: 1, realtime: 0 });
  });

  it('is tried again where that may help', async () => {
    const client = stage.google();
    const given = stage.googleOptions({ clock: hurried() });
    const answer = await batchify(() => askGemini(client, 'later [[once status 503]]'), given);
    expect(answer).toContain('answer to "later');
    expect(stage.simulator.meter).toMatchObject({ total: 1, failed: 1 });
  });
});
