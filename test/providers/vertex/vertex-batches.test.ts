import { inspect } from 'node:util';
import { ApiError } from '@google/genai';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { LeapingClock } from '../../guarantees/leaping-clock.ts';
import { vertexClient } from '../../support/programs/parts/vertex-client.ts';
import { soon, until } from '../../support/until.ts';
import { hurried } from '../google/google-stage.ts';
import {
  askClaude,
  askGemini,
  jobsPath,
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

const prompts = ['one', 'two', 'three'];

function askAll(given: BatchifyOptions = {}, asked: readonly string[] = prompts) {
  const client = stage.gemini();
  return batchify(
    () => Promise.allSettled(asked.map((prompt) => askGemini(client, prompt))),
    // In hurried time, so that all calls are there.
    stage.vertexOptions({ clock: hurried(), window: '10s', ...given }),
  );
}

const allAnswered = prompts.map(() => ({ status: 'fulfilled' }));

/** Objects that are left in the bucket. */
async function left(): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${stage.base}/storage/v1/b/mine/o`, { headers });
  const { items = [] } = (await response.json()) as { items?: { name: string }[] };
  return items.map(({ name }) => name);
}

describe('a job', () => {
  it('is found by its name when the answer to its create is lost, and nothing runs twice', async () => {
    const { simulator } = stage;
    simulator.configure({ foreignBatches: true });
    simulator.faults.add({ method: 'POST', path: jobsPath, action: { kind: 'lost' } });
    expect(await askAll()).toMatchObject(allAnswered);
    expect(simulator.countRequests('POST', jobsPath)).toBe(1);
    expect(simulator.meter.total).toBe(prompts.length);
    expect(simulator.meter.executedTwice()).toEqual([]);
  });

  it('is created again from the same object when it was never accepted', async () => {
    const { simulator } = stage;
    const action = { kind: 'status', status: 500 } as const;
    simulator.faults.add({ method: 'POST', path: jobsPath, action });
    expect(await askAll()).toMatchObject(allAnswered);
    expect(simulator.countRequests('POST', jobsPath)).toBe(2);
    expect(simulator.countRequests('POST', '/upload/storage/v1/b/mine/o')).toBe(1);
    expect(simulator.meter.total).toBe(prompts.length);
  });

  it.each(['expired', 'cancelled'] as const)(
    'that is %s keeps what has run, and only the rest is sent again',
    async (outcome) => {
      const { simulator } = stage;
      simulator.faults.nextBatch({ outcome, completedFraction: 1 / 3 });
      const outcomes = await askAll();
      const answered = outcomes.filter(({ status }) => status === 'fulfilled').length;
      expect(answered).toBe(outcome === 'expired' ? 3 : 1);
      expect(simulator.meter.total).toBe(answered);
      expect(simulator.meter.executedTwice()).toEqual([]);
    },
  );

  it('that fails as a whole tells every caller why', async () => {
    const errors = [{ code: 'invalid', message: 'The bucket is in another region.' }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    for (const outcome of await askAll()) {
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(ApiError);
      expect(reason).toMatchObject({
        status: 400,
        message: expect.stringContaining('another region'),
      });
    }
    expect(stage.simulator.batches()).toHaveLength(1);
  });

  it.each([
    ['an unknown model', {}, 'gemini-test'],
    [
      'a bucket that is not there',
      { vertex: { bucket: 'gs://missing-one' } },
      'bucket does not exist',
    ],
  ])('that is refused for %s tells every caller why', async (what, providers, message) => {
    if (what.includes('model')) stage.simulator.configure({ models: ['gemini-other'] });
    for (const outcome of await askAll({ providers })) {
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toMatchObject({ message: expect.stringContaining(message) });
    }
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('is cancelled at the provider with its scope', async () => {
    const { simulator } = stage;
    simulator.hold();
    const client = stage.gemini();
    const scope = batchify(stage.vertexOptions());
    const asked = scope.run(() => Promise.allSettled(prompts.map((one) => askGemini(client, one))));
    await until(() => scope.stats.batches.submitted === 1, 'the batch');
    await scope.cancel();
    for (const outcome of await soon(asked)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 499 } });
    }
    await soon(scope.close());
    await until(() => simulator.batches()[0]?.ending === 'cancelled', 'the end of the job');
    expect(simulator.meter.total).toBe(0);
  });

  it('of Claude waits while four are under way', async () => {
    const client = stage.claude();
    const asked = Array.from({ length: 6 }, (_, at) => `question ${at}`);
    const answers = await batchify(
      () => Promise.all(asked.map((prompt) => askClaude(client, prompt))),
      stage.vertexOptions({ batchSize: 1, clock: hurried() }),
    );
    expect(answers).toHaveLength(6);
    expect(stage.simulator.countRequests('POST', jobsPath)).toBe(6);
  });

  it('leaves nothing in the bucket', async () => {
    await askAll();
    expect(await left()).toEqual([]);
    await askAll({ cleanup: false });
    expect((await left()).map((name) => name.replace(/.*\//, ''))).toEqual([
      'input.jsonl',
      'predictions.jsonl',
    ]);
  });
});

describe('a right that is missing', () => {
  /** As Google says it, whether the thing is there or not. */
  const denied = (permission: string) => ({
    error: {
      code: 403,
      message: `Permission '${permission}' denied on resource (or it may not exist).`,
      status: 'PERMISSION_DENIED',
    },
  });

  it.each([
    ['a job', 'aiplatform.batchPredictionJobs.get', /\/batchPredictionJobs\/\d+$/],
    ['the list of its results', 'storage.objects.list', '/storage/v1/b/mine/o'],
    ['its results', 'storage.objects.get', /predictions\.jsonl$/],
  ])('to see %s sends nothing again: they are read once it is there', async (_what, name, path) => {
    const { simulator } = stage;
    const action = { kind: 'status', status: 403, body: denied(name) } as const;
    const fault = simulator.faults.add({ method: 'GET', path, action, times: 10_000 });
    const store = stage.newStore();
    const clock = new LeapingClock(40 * 3_600_000);
    onTestFinished(() => clock.stop());
    for (const outcome of await askAll({ store, clock, poll: '1m' })) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { status: 403, message: expect.stringContaining(name) },
      });
    }
    expect(simulator.batches()).toHaveLength(1);
    fault.remove();
    vi.stubEnv('BATCHLING_RUN', 'another-run');
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await askAll({ store })).toMatchObject(allAnswered);
    expect(simulator.batches()).toHaveLength(1);
    expect(simulator.meter.total).toBe(prompts.length);
  });
});

describe('the paths', () => {
  it('of a batch are those of its project and location, and of its bucket', async () => {
    await askAll();
    const seen = stage.simulator.requests.map(({ method, path }) =>
      `${method} ${path}`.replace(/Jobs\/\d+/, 'Jobs/ID').replace(/(\/o\/).+%2F/, '$1'),
    );
    const jobs = '/v1beta1/projects/my-project/locations/us-central1/batchPredictionJobs';
    const number = /projects\/(\d+)\//.exec(seen.find((one) => one.endsWith('/ID')) ?? '')?.[1];
    expect([...new Set(seen)]).toEqual([
      'POST /upload/storage/v1/b/mine/o',
      `POST ${jobs}`,
      `GET ${jobs.replace('my-project', number ?? '')}/ID`,
      'GET /storage/v1/b/mine/o',
      'GET /storage/v1/b/mine/o/predictions.jsonl',
      'DELETE /storage/v1/b/mine/o/input.jsonl',
      'DELETE /storage/v1/b/mine/o/predictions.jsonl',
    ]);
    expect(new Set(stage.simulator.requests.map(({ account }) => account)).size).toBe(1);
  });

  it('of other calls and jobs of the program itself are left alone', async () => {
    const client = stage.gemini();
    await batchify(() => client.batches.list(), stage.vertexOptions());
    expect(stage.simulator.requests.map(({ method }) => method)).toEqual(['GET']);
  });
});

describe('a token', () => {
  it('that changes is asked for before every request', async () => {
    let asked = 0;
    const credential = () => {
      asked += 1;
      return `ya29.fresh-${asked}@my-project`;
    };
    const client = vertexClient(stage.base, 'ya29.stale@my-project');
    const answer = await batchify(
      () => askGemini(client, 'one'),
      stage.vertexOptions({ providers: { vertex: { credential } } }),
    );
    expect(answer).toContain('answer to "one"');
    expect(asked).toBe(stage.simulator.requests.length);
  });

  it('is in no error, although it is echoed', async () => {
    const body = { error: { code: 403, message: `No ${token} here`, status: 'PERMISSION_DENIED' } };
    const path = '/upload/storage/v1/b/mine/o';
    stage.simulator.faults.add({ path, action: { kind: 'status', status: 403, body }, times: 9 });
    const [outcome] = await askAll({}, ['one']);
    const told = inspect(outcome, { depth: 10 });
    expect(told).toContain('No [redacted] here');
    expect(told).not.toContain(token);
  });
});
