import Perplexity from '@perplexity-ai/perplexity_ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../src/index.ts';
import { fastClock } from '../support/programs/parts/fast-clock.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let base: string;
let client: Perplexity;

beforeAll(async () => {
  stage = await openStage();
  base = stage.simulator.baseUrl('perplexity');
  const baseURL = base.replace(/\/v1$/, '');
  client = new Perplexity({ apiKey: 'pplx-test', baseURL, maxRetries: 0 });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

function options(given: BatchifyOptions = {}): BatchifyOptions {
  return stage.options({ hosts: { [base]: 'perplexity' }, bypass: 'error', ...given });
}

const create = { method: 'POST', path: '/v1/batches' } as const;

const ask = async (input: string) =>
  (await client.responses.create({ model: 'perplexity/sonar', input })).output_text;

describe('requests to agents through the batches of Perplexity', () => {
  it('share a batch where their model is the same, whatever name they have for the endpoint', async () => {
    const body = { model: 'perplexity/sonar', input: 'two' };
    const [one, two, three] = await batchify(
      () =>
        Promise.all([
          ask('one'),
          client.post('/v1/agent', { body }),
          client.responses.create({ preset: 'pro-search', input: 'three' }),
        ]),
      options({ window: '300ms' }),
    );
    expect(one).toContain('answer to "one"');
    expect(JSON.stringify(two)).toContain('answer to \\"two\\"');
    expect(three.output_text).toContain('answer to "three"');
    const sizes = stage.simulator.batches().map(({ requests }) => requests);
    expect(sizes.toSorted()).toEqual([1, 2]);
  });

  it('cost what their answers say', async () => {
    const scope = batchify(options());
    const { usage } = await scope.run(() =>
      client.responses.create({ model: 'perplexity/sonar', input: 'what does it cost?' }),
    );
    await scope.close();
    expect(scope.stats.dollars.paid).toBeCloseTo(usage?.cost?.total_cost ?? 0, 10);
    expect(scope.stats.dollars.paid).toBeGreaterThan(0);
  });

  it('lose none to a line that the upload refuses but that line', async () => {
    const outcomes = await batchify(
      () => Promise.allSettled(['a', '[[invalid]]', 'c'].map(ask)),
      options(),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const { reason } = outcomes[1] as PromiseRejectedResult;
    expect(reason).toBeInstanceOf(Perplexity.BadRequestError);
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('whose create is repeated before its batch is in the list make no twin', async () => {
    stage.simulator.configure({ listLag: 60_000 });
    stage.simulator.faults.add({ ...create, action: { kind: 'lost' } });
    // The looks after an unclear create are seconds apart.
    const clock = fastClock({ epoch: Date.now(), speed: 200 });
    const answers = await batchify(() => Promise.all(['a', 'b'].map(ask)), options({ clock }));
    expect(answers).toHaveLength(2);
    expect(stage.simulator.countRequests(create.method, create.path)).toBe(2);
    expect(stage.simulator.batches()).toHaveLength(1);
    expect(stage.simulator.meter.total).toBe(2);
  });
});

it.each(['/v1/chat/completions', '/chat/completions', '/v1/sonar', '/v1/async/sonar'])(
  'a call to %s goes out as it is, and the reason is told',
  async (path) => {
    const scope = batchify(
      options({ bypass: 'ignore', hosts: { [base.replace(/\/v1$/, '')]: 'perplexity' } }),
    );
    const reasons: string[] = [];
    scope.on('call:bypassed', ({ reason }) => reasons.push(reason));
    const url = `${base.replace(/\/v1$/, '')}${path}`;
    await scope.run(() => fetch(url, { method: 'POST', body: '{"model":"sonar","messages":[]}' }));
    await scope.close();
    expect(reasons).toEqual([expect.stringContaining('no Sonar chat completions')]);
  },
);
