import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { ask } from '../support/ask.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const model = 'accounts/fireworks/models/gpt-oss-20b';
const at = '/v1/accounts/simulator';
let stage: Stage;
let client: OpenAI;

beforeAll(async () => {
  stage = await openStage();
  const baseURL = stage.simulator.baseUrl('fireworks');
  client = new OpenAI({ apiKey: 'fw-test', baseURL, maxRetries: 0 });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function options(given: BatchifyOptions = {}): BatchifyOptions {
  const hosts = { [stage.simulator.baseUrl('fireworks')]: 'fireworks' } as const;
  return stage.options({ hosts, bypass: 'error', ...given });
}

const say = (content: string) => ask(client, content, model);

function settled(prompts: readonly string[], given?: BatchifyOptions) {
  return batchify(() => Promise.allSettled(prompts.map(say)), options(given));
}

describe('calls through the jobs of Fireworks', () => {
  it('are answered, as streams where these were asked for', async () => {
    const messages = [{ role: 'user' as const, content: 'two' }];
    const [one, two] = await batchify(
      () =>
        Promise.all([
          say('one'),
          client.chat.completions.stream({ model, messages }).finalContent(),
        ]),
      options(),
    );
    expect(one).toContain('answer to "one"');
    expect(two).toContain('answer to "two"');
    expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
  });

  it('ask for nothing but datasets and jobs of their account, and leave no dataset', async () => {
    await settled(['one', '[[status 400]]']);
    // What is left at the provider is deleted after the scope is closed.
    const deletions = () => stage.simulator.countRequests('DELETE', /\/datasets\//);
    await until(() => deletions() === 2, 'the deletion of both datasets');
    const [batch] = stage.simulator.batches();
    const asked = stage.simulator.requests.map(({ method, path }) => {
      const short = path.replace(at, '').replace(/(datasets|downloads)\/[^:/]+/, '$1/:id');
      return `${method} ${short.replace(batch?.id ?? '', ':job')}`;
    });
    expect([...new Set(asked)].sort()).toEqual([
      'DELETE /datasets/:id',
      'GET /batchInferenceJobs/:job',
      'GET /datasets/:id',
      'GET /datasets/:id:getDownloadEndpoint',
      'GET /downloads/:id',
      'GET /v1/accounts',
      'POST /batchInferenceJobs',
      'POST /datasets',
      'POST /datasets/:id:upload',
    ]);
    for (const { path, headers } of stage.simulator.requests) {
      expect(headers.authorization).toBe(path.startsWith('/downloads/') ? undefined : 'REDACTED');
    }
  });

  it.each([
    [400, OpenAI.BadRequestError],
    [404, OpenAI.NotFoundError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('that fail with %i raise the class of their SDK', async (status, type) => {
    const [outcome] = await settled([`[[status ${status}]]`], { attempts: 1 });
    const { reason } = outcome as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(type);
    expect(reason.message).toContain(`simulated status ${status}`);
  });

  it('to a deployment go out as they are, and the reason is told', async () => {
    const scope = batchify(options({ bypass: 'ignore' }));
    const reasons: string[] = [];
    scope.on('call:bypassed', ({ reason }) => reasons.push(reason));
    await scope.run(() => ask(client, 'one', `${model}#accounts/me/deployments/mine`));
    await scope.close();
    expect(reasons).toEqual([expect.stringContaining('by their full names')]);
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });

  it('to a deployment are calls like others in the realtime lane, which makes no jobs', async () => {
    const deployment = `${model}#accounts/me/deployments/mine`;
    const scope = batchify(options({ lane: 'realtime' }));
    await scope.run(() => ask(client, 'one', deployment));
    await scope.close();
    expect(scope.stats).toMatchObject({ realtime: 1, bypassed: 0 });
    expect(stage.simulator.meter.executions).toMatchObject([{ body: { model: deployment } }]);
  });
});

describe('a job of Fireworks', () => {
  it('whose create was lost is found by its id, and nothing runs twice', async () => {
    stage.simulator.configure({ foreignBatches: true });
    const path = `${at}/batchInferenceJobs`;
    stage.simulator.faults.add({ method: 'POST', path, action: { kind: 'lost' } });
    const outcomes = await settled(['a', 'b']);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(stage.simulator.meter.total).toBe(2);
    expect(stage.simulator.countRequests('POST', path)).toBe(1);
  });

  it('with a request that fails it is sent again in halves, without it in the end', async () => {
    const outcomes = await settled(['a', '[[invalid]]', 'c', 'd']);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(OpenAI.BadRequestError);
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('that expires keeps its answers, and the rest is sent again', async () => {
    stage.simulator.faults.nextBatch({ outcome: 'expired', completedFraction: 0.5 });
    const outcomes = await settled(['a', 'b', 'c', 'd']);
    expect(outcomes.every(({ status }) => status === 'fulfilled')).toBe(true);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
    expect(stage.simulator.batches()).toMatchObject([{ requests: 4 }, { requests: 2 }]);
  });

  it('is deleted where its scope is cancelled', async () => {
    stage.simulator.hold();
    const scope = batchify(options());
    const calls = Promise.allSettled(['a', 'b'].map((prompt) => scope.run(() => say(prompt))));
    await until(() => stage.simulator.batches()[0]?.phase === 'in_progress', 'the job');
    await scope.cancel();
    for (const outcome of await calls) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 499 } });
    }
    await scope.close();
    await until(() => stage.simulator.batches()[0]?.phase === 'ended', 'its end');
    expect(stage.simulator.meter.total).toBe(0);
  });

  it('whose account is not clear tells its callers what to set', async () => {
    const body = { accounts: [{ name: 'accounts/a' }, { name: 'accounts/b' }] };
    const action = { kind: 'status', status: 200, body } as const;
    stage.simulator.faults.add({ method: 'GET', path: '/v1/accounts', action });
    const [outcome] = await settled(['a']);
    const { reason } = outcome as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(OpenAI.BadRequestError);
    expect(reason.message).toContain('providers: { fireworks: { account: "my-team" } }');
    expect(stage.simulator.meter.total).toBe(0);
    await settled(['a'], { providers: { fireworks: { account: 'simulator' } } });
    expect(stage.simulator.countRequests('GET', '/v1/accounts')).toBe(1);
  });
});
