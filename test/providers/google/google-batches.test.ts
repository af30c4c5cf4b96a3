import { ApiError } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { soon, until } from '../../support/until.ts';
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

const create = '/v1beta/models/gemini-test:batchGenerateContent';

function askAll(prompts: readonly string[], given: BatchifyOptions = {}) {
  const client = stage.google();
  return batchify(
    () => Promise.allSettled(prompts.map((prompt) => askGemini(client, prompt))),
    // In hurried time, so that all calls are there.
    stage.googleOptions({ clock: hurried(), window: '10s', ...given }),
  );
}

const ways = [
  ['in its create', ['one', 'two', 'three']],
  ['as a file', manyPrompts()],
] as const;

describe.each(ways)('a batch that travels %s', (_way, prompts) => {
  const isFile = prompts.length > 20;
  const allAnswered = prompts.map(() => ({ status: 'fulfilled' }));

  it('is found by its name when the answer to its create is lost, and nothing runs twice', async () => {
    const { simulator } = stage;
    simulator.configure({ foreignBatches: true });
    simulator.faults.add({ method: 'POST', path: create, action: { kind: 'lost' } });
    expect(await askAll(prompts)).toMatchObject(allAnswered);
    expect(simulator.countRequests('POST', create)).toBe(1);
    expect(simulator.meter.total).toBe(prompts.length);
    expect(simulator.meter.executedTwice()).toEqual([]);
  });

  it('is created again when it was never accepted, from the same file', async () => {
    const { simulator } = stage;
    simulator.faults.add({ method: 'POST', path: create, action: { kind: 'status', status: 500 } });
    expect(await askAll(prompts)).toMatchObject(allAnswered);
    expect(simulator.countRequests('POST', create)).toBe(2);
    const uploads = simulator.countRequests('POST', '/upload/v1beta/files');
    expect(uploads).toBe(isFile ? 2 : 0);
    expect(simulator.meter.total).toBe(prompts.length);
  });

  it('that expires has lost everything, and its requests are sent again', async () => {
    const { simulator } = stage;
    simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    expect(await askAll(prompts)).toMatchObject(allAnswered);
    const endings = simulator.batches().map(({ ending, requests }) => [ending, requests]);
    expect(endings).toEqual([
      ['expired', prompts.length],
      ['completed', prompts.length],
    ]);
  });

  it('waits for answers that are attached after the end', async () => {
    stage.simulator.faults.nextBatch({ lateFiles: 3 });
    expect(await askAll(prompts)).toMatchObject(allAnswered);
    expect(stage.simulator.batches()).toHaveLength(1);
  });

  it('that fails as a whole tells every caller why', async () => {
    const errors = [{ code: 'invalid', message: 'No batches today.' }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    for (const outcome of await askAll(prompts)) {
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(ApiError);
      expect(reason).toMatchObject({ status: 400, message: expect.stringContaining('No batches') });
    }
    expect(stage.simulator.batches()).toHaveLength(1);
  });

  it('that is refused tells every caller why', async () => {
    stage.simulator.configure({ models: ['gemini-other'] });
    for (const outcome of await askAll(prompts)) {
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toMatchObject({
        status: 404,
        message: expect.stringContaining('gemini-test'),
      });
    }
    expect(stage.simulator.countRequests('POST', create)).toBe(1);
  });

  it('leaves no file of ours behind', async () => {
    await askAll(prompts);
    const uploads = stage.simulator.countRequests('POST', '/upload/v1beta/files');
    const deletes = stage.simulator.countRequests('DELETE', /^\/v1beta\/files\//);
    expect([uploads, deletes]).toEqual(isFile ? [2, 1] : [0, 0]);
  });

  it('is cancelled at the provider with its scope', async () => {
    const { simulator } = stage;
    simulator.hold();
    const client = stage.google();
    const scope = batchify(stage.googleOptions());
    const asked = scope.run(() =>
      Promise.allSettled(prompts.map((prompt) => askGemini(client, prompt))),
    );
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await scope.cancel();
    for (const outcome of await soon(asked)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 499 } });
    }
    await soon(scope.close());
    await until(() => simulator.batches()[0]?.ending === 'cancelled', 'the end of the batch');
    expect(simulator.meter.total).toBe(0);
  });
});

describe('an account without room', () => {
  it('is waited for, and no attempt is used up', async () => {
    const { simulator } = stage;
    const action = { kind: 'status', status: 429 } as const;
    simulator.faults.add({ method: 'POST', path: create, times: 4, action });
    expect(await askAll(['one'], { attempts: 1 })).toMatchObject([{ status: 'fulfilled' }]);
    expect(simulator.countRequests('POST', create)).toBe(5);
  });

  it('has its batches one after another where the tokens of a model are limited', async () => {
    stage.simulator.configure({ limits: { google: { enqueuedTokens: 60 } } });
    const outcomes = await askAll(manyPrompts(12), { batchSize: 3 });
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(stage.simulator.meter.total).toBe(12);
  });
});

describe('a file', () => {
  it('that is not known at once is waited for', async () => {
    stage.simulator.configure({ fileLag: 200 });
    const outcomes = await askAll(manyPrompts());
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(stage.simulator.countRequests('POST', '/upload/v1beta/files')).toBe(2);
  });

  it('whose upload breaks off is uploaded again', async () => {
    const { simulator } = stage;
    const path = '/upload/v1beta/files';
    simulator.faults.add({ method: 'POST', path, skip: 1, action: { kind: 'reset-mid-body' } });
    const outcomes = await askAll(manyPrompts());
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(simulator.meter.total).toBe(25);
  });
});

it('an `onDeadline: "realtime"` that would pay twice is refused', async () => {
  const [outcome] = await askAll(['one'], { deadline: '1h', onDeadline: 'realtime' });
  expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 400 } });
  expect(stage.simulator.requests).toEqual([]);
});
