import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, type BatchingContext, batchify } from '../../../src/index.ts';
import { ask, askClaude, chatRequest } from '../../support/ask.ts';
import { fastClock } from '../../support/programs/parts/fast-clock.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;
let scope: BatchingContext;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

/** Runs both SDKs on the same prompts; failures are results here. */
async function askAll(prompts: string[], given: BatchifyOptions = {}) {
  scope = batchify(stage.options(given));
  const openai = stage.openai();
  const anthropic = stage.anthropic();
  const outcomes = await scope.run(() =>
    Promise.all([
      Promise.allSettled(prompts.map((prompt) => ask(openai, prompt))),
      Promise.allSettled(prompts.map((prompt) => askClaude(anthropic, prompt))),
    ]),
  );
  await scope.close();
  return outcomes;
}

function reasonOf(outcome: PromiseSettledResult<unknown> | undefined): unknown {
  return outcome?.status === 'rejected' ? outcome.reason : outcome;
}

function expectAnswer(outcome: PromiseSettledResult<string> | undefined, prompt: string): void {
  expect(outcome).toMatchObject({ value: expect.stringContaining(`answer to "${prompt}"`) });
}

describe('an item that fails', () => {
  it("raises the SDK's own error with the provider's message, and the others succeed", async () => {
    const [openai, anthropic] = await askAll(['fine', 'bad [[status 400]]', 'fine too']);

    const refused = reasonOf(openai[1]) as InstanceType<typeof OpenAI.BadRequestError>;
    expect(refused).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refused.status).toBe(400);
    expect(refused.message).toContain('simulated status 400');
    expect(refused.requestID).toMatch(/^req_/);
    expect(refused.headers?.get('x-should-retry')).toBe('false');
    expect(refused.headers?.get('x-batchling-source')).toBe('batch');

    const declined = reasonOf(anthropic[1]) as InstanceType<typeof Anthropic.BadRequestError>;
    expect(declined).toBeInstanceOf(Anthropic.BadRequestError);
    expect(declined.status).toBe(400);
    expect(declined.message).toContain('simulated status 400');
    expect(declined.requestID).toMatch(/^req_/);

    for (const outcomes of [openai, anthropic]) {
      expectAnswer(outcomes[0], 'fine');
      expectAnswer(outcomes[2], 'fine too');
    }
    // One capture per call: no SDK sent anything a second time.
    expect(scope.stats).toMatchObject({ captured: 6, answered: 6, failed: 2, retried: 0 });
    expect(stage.simulator.meter.failed).toBe(2);
  });

  it.each([
    [404, OpenAI.NotFoundError, Anthropic.NotFoundError],
    [403, OpenAI.PermissionDeniedError, Anthropic.PermissionDeniedError],
  ])('keeps the status %i', async (status, ofOpenAI, ofAnthropic) => {
    const [openai, anthropic] = await askAll([`[[status ${status}]]`]);
    expect(reasonOf(openai[0])).toBeInstanceOf(ofOpenAI);
    expect(reasonOf(anthropic[0])).toBeInstanceOf(ofAnthropic);
  });
});

describe('an item worth a second try', () => {
  it.each(['status 500', 'status 429', 'missing', 'broken', 'empty', 'expired'])(
    'succeeds after %s in the first attempt',
    async (marker) => {
      const prompt = `[[once ${marker}]]`;
      const [openai, anthropic] = await askAll([prompt, 'fine']);
      for (const outcomes of [openai, anthropic]) {
        expectAnswer(outcomes[0], prompt);
        expectAnswer(outcomes[1], 'fine');
      }
      expect(scope.stats).toMatchObject({ captured: 4, answered: 4, failed: 0, retried: 2 });
      expect(stage.simulator.meter.executedTwice()).toEqual([]);
    },
  );

  it.each([1, 2, 3])(
    'ends after attempts: %i with the status of the provider',
    async (attempts) => {
      const [openai, anthropic] = await askAll(['[[status 500]]'], { attempts });
      for (const reason of [reasonOf(openai[0]), reasonOf(anthropic[0])]) {
        expect(reason).toMatchObject({
          status: 500,
          message: expect.stringContaining('simulated status 500'),
        });
      }
      expect(reasonOf(openai[0])).toBeInstanceOf(OpenAI.InternalServerError);
      expect(reasonOf(anthropic[0])).toBeInstanceOf(Anthropic.InternalServerError);
      expect(stage.simulator.meter.failed).toBe(2 * attempts);
      expect(scope.stats).toMatchObject({ captured: 2, retried: 2 * (attempts - 1) });
    },
  );

  it('tells clients not to retry, whatever the provider said', async () => {
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const response = await batchify(
      () => fetch(url, chatRequest('[[status 429]]')),
      stage.options({ attempts: 1 }),
    );
    expect(response.status).toBe(429);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(response.headers.has('retry-after')).toBe(false);
  });
});

describe('an item the provider never answers', () => {
  it('is tried once more after it expired, then gets 504 of type batchling_expired', async () => {
    const [openai, anthropic] = await askAll(['[[expired]]', 'fine'], { attempts: 5 });
    expect(reasonOf(openai[0])).toMatchObject({ status: 504, type: 'batchling_expired' });
    expect(reasonOf(anthropic[0])).toMatchObject({
      status: 504,
      error: { error: { type: 'batchling_expired' } },
    });
    expectAnswer(openai[1], 'fine');
    expect(stage.simulator.meter.failed).toBe(4);
  });

  it.each([1, 2, 3])('is tried once more after it expired, with attempts: %i', async (attempts) => {
    const [openai, anthropic] = await askAll(['[[once expired]]', '[[expired]]'], { attempts });
    for (const outcomes of [openai, anthropic]) {
      expectAnswer(outcomes[0], '[[once expired]]');
      expect(reasonOf(outcomes[1])).toMatchObject({ status: 504 });
    }
    expect(stage.simulator.meter.failed).toBe(6);
  });

  it.each(['missing', 'broken', 'empty'])(
    'gets 502 of type batchling_missing when its line stays %s',
    async (marker) => {
      // Alone in its second batch it leaves no result file at all, and that is waited for.
      const clock = fastClock({ epoch: Date.now(), speed: 3_600 });
      const options = { attempts: 2, clock, poll: '1m', window: '1m' } as const;
      const [openai, anthropic] = await askAll([`[[${marker}]]`, 'fine'], options);
      expect(reasonOf(openai[0])).toMatchObject({ status: 502, type: 'batchling_missing' });
      expect(reasonOf(anthropic[0])).toMatchObject({
        status: 502,
        error: { error: { type: 'batchling_missing' } },
      });
      expectAnswer(openai[1], 'fine');
      expectAnswer(anthropic[1], 'fine');
      expect(scope.stats).toMatchObject({ captured: 4, failed: 2, retried: 2 });
    },
  );

  it.each(['double', 'foreign'])('is not confused by %s lines', async (marker) => {
    const [openai, anthropic] = await askAll([`[[${marker}]]`, 'fine']);
    for (const outcomes of [openai, anthropic]) {
      expectAnswer(outcomes[0], `[[${marker}]]`);
      expectAnswer(outcomes[1], 'fine');
    }
    expect(scope.stats).toMatchObject({ captured: 4, answered: 4, failed: 0, retried: 0 });
  });
});
