import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { embedMany } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { type GoogleStage, hurried, manyPrompts, openGoogleStage } from './google-stage.ts';

let stage: GoogleStage;

beforeAll(async () => {
  stage = await openGoogleStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const model = 'embedding-test';

/** What the simulated model answers to a text: the length of it, and what it begins with. */
function vectorFor(text: string): number[] {
  return [text.length, text.charCodeAt(0), Number(text.replace(/\D/g, ''))];
}

function answerWithVectors(): void {
  stage.simulator.configure({
    answer: ({ prompt }) =>
      prompt.includes('[[') ? undefined : { embedding: { values: vectorFor(prompt) } },
  });
}

describe('embeddings of several contents in one call', () => {
  it.each([3, 40])(
    'come back in order, %i of them, each from a request of its own',
    async (count) => {
      answerWithVectors();
      const contents = manyPrompts(count);
      const scope = batchify(stage.googleOptions());
      const { embeddings } = await scope.run(() =>
        stage
          .google()
          .models.embedContent({ model, contents, config: { outputDimensionality: 3 } }),
      );
      await scope.close();
      expect(embeddings?.map(({ values }) => values)).toEqual(contents.map(vectorFor));
      expect(scope.stats).toMatchObject({ captured: 1, answered: 1 });
      const { executions } = stage.simulator.meter;
      expect(executions).toHaveLength(count);
      expect(new Set(executions.map(({ endpoint }) => endpoint))).toEqual(
        new Set([`/v1beta/models/${model}:embedContent`]),
      );
      expect(executions[0]?.body).toMatchObject({ outputDimensionality: 3 });
      const created = stage.simulator.countRequests(
        'POST',
        `/v1beta/models/${model}:asyncBatchEmbedContent`,
      );
      expect(created).toBe(1);
    },
  );

  it('reach the AI SDK in order', async () => {
    answerWithVectors();
    const google = createGoogleGenerativeAI({ apiKey: 'k-ai', baseURL: `${stage.base}/v1beta` });
    const values = manyPrompts(7);
    const { embeddings } = await batchify(
      () => embedMany({ model: google.embeddingModel(model), values, maxRetries: 0 }),
      stage.googleOptions(),
    );
    expect(embeddings).toEqual(values.map(vectorFor));
  });

  it('are told the error of the one that fails', async () => {
    answerWithVectors();
    const contents = ['fine', 'bad [[status 400]]', 'fine too'];
    const failed = await batchify(
      () =>
        stage
          .google()
          .models.embedContent({ model, contents })
          .catch((error: unknown) => error),
      stage.googleOptions({ clock: hurried() }),
    );
    expect(failed).toMatchObject({
      status: 400,
      message: expect.stringContaining('simulated status 400'),
    });
  });

  it('are counted with the tokens that they say', async () => {
    const scope = batchify(stage.googleOptions());
    const tokens: (number | undefined)[] = [];
    scope.on('call:answered', ({ inputTokens }) => void tokens.push(inputTokens));
    const contents = manyPrompts(3);
    await scope.run(() => stage.google().models.embedContent({ model, contents }));
    await scope.close();
    const { inputTokens } = stage.simulator.meter.summary();
    expect(tokens).toEqual([inputTokens]);
  });
});

it('one embedding is one request and one answer', async () => {
  answerWithVectors();
  const response = await batchify(
    () =>
      fetch(`${stage.base}/v1beta/models/${model}:embedContent`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-goog-api-key': 'k-1' },
        body: JSON.stringify({ content: { parts: [{ text: 'only 1' }] } }),
      }),
    stage.googleOptions(),
  );
  expect(await response.json()).toEqual({ embedding: { values: vectorFor('only 1') } });
  expect(response.headers.get('x-batchling-source')).toBe('batch');
});
