import { HTTPValidationError, MistralError, SDKError } from '@mistralai/mistralai/models/errors';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, type MistralStage, model, openMistral, reasonOf } from './mistral-stage.ts';

let stage: MistralStage;

beforeAll(async () => {
  stage = await openMistral();
});
beforeEach(() => stage.simulator.reset());
afterAll(() => stage.close());

async function failure(content: string, given = {}): Promise<MistralError> {
  const client = stage.client();
  const reason = await reasonOf(batchify(() => ask(client, content), stage.options(given)));
  if (reason instanceof MistralError) return reason;
  throw reason;
}

describe('a line that failed', () => {
  it.each([400, 401, 403, 404, 409, 413, 422])(
    'with %i raises what the SDK raises online',
    async (status) => {
      const prompt = `[[status ${status}]]`;
      const error = await failure(prompt);
      const online = (await reasonOf(ask(stage.client(), prompt))) as MistralError;
      expect(error.constructor).toBe(online.constructor);
      expect(error).toBeInstanceOf(status === 422 ? HTTPValidationError : SDKError);
      expect(error.body).toBe(online.body);
      expect(error.message).toContain(`simulated status ${status}`);
      expect(error.statusCode).toBe(status);
      expect(error.headers.get('x-should-retry')).toBe('false');
      expect(stage.simulator.meter.failed).toBe(2);
    },
  );

  it.each([429, 500])('with %i is tried again, then told', async (status) => {
    const error = await failure(`[[status ${status}]]`, { attempts: 2 });
    expect(error).toBeInstanceOf(SDKError);
    expect(error.statusCode).toBe(status);
    expect(error.message).toContain(`simulated status ${status}`);
    expect(stage.simulator.meter.failed).toBe(2);
  });

  it('is not sent again because the client was told to retry', async () => {
    const client = stage.client();
    // Six times in a row at most the client that asks again hears the same error.
    const backoff = { initialInterval: 20, maxInterval: 20, exponent: 1, maxElapsedTime: 50 };
    const messages = [{ role: 'user' as const, content: '[[status 500]]' }];
    const retries = { strategy: 'backoff' as const, backoff };
    const asking = () => client.chat.complete({ model, messages }, { retries });
    const error = await reasonOf(batchify(asking, stage.options({ attempts: 1, window: '5ms' })));
    expect(error).toMatchObject({ statusCode: 500 });
    expect(stage.simulator.meter.failed).toBe(1);
  });

  it.each(['missing', 'broken', 'empty', 'unstated'])(
    'as %s is told in the shape of the provider',
    async (marker) => {
      const client = stage.client();
      // Results without a line that can be read would be waited for.
      const prompts = ['fine', `[[${marker}]]`];
      const [fine, error] = await batchify(
        () => Promise.allSettled(prompts.map((prompt) => ask(client, prompt))),
        stage.options({ attempts: 1 }),
      );
      expect(fine).toMatchObject({ status: 'fulfilled' });
      const { reason } = error as PromiseRejectedResult;
      expect(reason).toMatchObject({ statusCode: 502 });
      expect(JSON.parse((reason as MistralError).body)).toMatchObject({
        object: 'error',
        message: expect.any(String),
      });
    },
  );

  it('succeeds at the next attempt, and so do the others at their first', async () => {
    const client = stage.client();
    const prompts = ['fine', '[[once status 500]]', '[[once missing]]'];
    const answers = await batchify(
      () => Promise.all(prompts.map((prompt) => ask(client, prompt))),
      stage.options(),
    );
    for (const [at, prompt] of prompts.entries()) expect(answers[at]).toContain(prompt);
  });
});

describe('a batch that was refused as a whole', () => {
  it('when it is created tells the callers what the provider said', async () => {
    const message = 'Batch is not available for this plan.';
    const body = { object: 'error', message, type: 'invalid_request', code: '1400' };
    const action = { kind: 'status', status: 400, body } as const;
    stage.simulator.faults.add({ method: 'POST', path: '/v1/batch/jobs', action });
    const error = await failure('hi');
    expect(error.statusCode).toBe(400);
    expect(JSON.parse(error.body)).toEqual(body);
  });

  it('with a bad key tells the callers so, and does not echo the key', async () => {
    const action = { kind: 'status', status: 401, body: { message: 'Unauthorized' } } as const;
    stage.simulator.faults.add({ path: '/v1/batch/jobs', times: 9, action });
    const error = await failure('hi');
    expect(error.statusCode).toBe(401);
    expect(error.message).toContain('Unauthorized');
  });

  it('later tells all callers what the provider said', async () => {
    const errors = [{ code: 'any', message: 'The model cannot be batched.' }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    const error = await failure('hi');
    expect(error.statusCode).toBe(400);
    expect(JSON.parse(error.body)).toMatchObject({
      object: 'error',
      message: 'The model cannot be batched.',
    });
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('because of its size goes in halves', async () => {
    const action = { kind: 'status', status: 413, body: { message: 'too large' } } as const;
    stage.simulator.faults.add({ method: 'POST', path: '/v1/batch/jobs', action });
    const client = stage.client();
    const asking = () => Promise.all(['one', 'two'].map((prompt) => ask(client, prompt)));
    expect(await batchify(asking, stage.options())).toHaveLength(2);
    expect(stage.simulator.batches()).toHaveLength(2);
  });
});
