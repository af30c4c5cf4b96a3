import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, askClaude } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

afterEach(() => stage.close());

const prompts = ['a', 'b', 'c', 'd'];

async function askOpenai(asked = prompts) {
  const scope = batchify(stage.options());
  const reasons: string[] = [];
  scope.on('batch:resent', ({ reason }) => reasons.push(reason));
  const client = stage.openai({ maxRetries: 0 });
  const outcomes = await scope.run(() =>
    Promise.allSettled(asked.map((prompt) => ask(client, prompt))),
  );
  await scope.close();
  return { outcomes, reasons, stats: scope.stats };
}

const sizes = () => stage.simulator.batches().map(({ total }) => total);

describe('a batch that is too large for the provider', () => {
  it.each([
    ['its upload', '/v1/files'],
    ['its create', '/v1/batches'],
  ])('is sent in halves when %s is refused with 413', async (_what, path) => {
    const action = { kind: 'status', status: 413 } as const;
    stage.simulator.faults.add({ method: 'POST', path, action });
    const { outcomes, reasons, stats } = await askOpenai();
    expect(outcomes.map(({ status }) => status)).toEqual(prompts.map(() => 'fulfilled'));
    expect(sizes()).toEqual([2, 2]);
    expect(stage.simulator.meter.total).toBe(4);
    expect(stats.retried).toBe(0);
    expect(reasons).toEqual([expect.stringMatching(/^sent in halves: /)]);
  });

  it('is refused for good when one request alone is too large', async () => {
    const action = { kind: 'status', status: 413 } as const;
    stage.simulator.faults.add({ method: 'POST', path: '/v1/files', times: 100, action });
    const { outcomes } = await askOpenai();
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 413 } });
    }
    expect(stage.simulator.meter.total).toBe(0);
  });
});

describe('a batch with bad lines', () => {
  it.each([
    ['from one', false],
    ['from zero', true],
  ])('goes again without them, and only they are told, with lines counted %s', async (_, zero) => {
    stage.simulator.configure({ linesFromZero: zero });
    const { outcomes, reasons } = await askOpenai(['a [[invalid]]', 'b', 'c [[invalid]]', 'd']);
    const message = expect.stringContaining('This line is marked as invalid.');
    const refused = {
      status: 'rejected',
      reason: { status: 400, code: 'invalid_request', message },
    };
    const answered = { status: 'fulfilled' };
    expect(outcomes).toMatchObject([refused, answered, refused, answered]);
    expect(stage.simulator.meter.total).toBe(2);
    expect(stage.simulator.meter.executedTwice()).toEqual([]);
    expect(reasons[0]).toMatch(/^sent again, its bad lines by themselves: /);
  });

  it('is not believed that a line is bad which passes by itself', async () => {
    const errors = [{ code: 'invalid_json_line', message: 'Line one is bad.', line: 1 }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    const { outcomes } = await askOpenai();
    expect(outcomes.map(({ status }) => status)).toEqual(prompts.map(() => 'fulfilled'));
    expect(sizes().sort()).toEqual([0, 1, 1, 2]);
  });

  it('goes again for the others when nobody waits for the bad one', async () => {
    const errors = [{ code: 'invalid_json_line', message: 'Line two is bad.', line: 2 }];
    stage.simulator.configure({ speed: { validating: 50 } });
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    const scope = batchify(stage.options());
    const gone = new AbortController();
    scope.on('batch:submitted', () => gone.abort());
    const client = stage.openai({ maxRetries: 0 });
    const outcomes = await scope.run(() =>
      Promise.allSettled([
        ask(client, 'a'),
        ask(client, 'b', 'gpt-test', { signal: gone.signal }),
        ask(client, 'c'),
      ]),
    );
    await scope.close();
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(stage.simulator.meter.total).toBe(2);
  });

  it('goes again without the one that the create names', async () => {
    const client = stage.anthropic({ maxRetries: 0 });
    const outcomes = await batchify(
      () =>
        Promise.allSettled(
          ['a', 'b', 'c [[invalid]]', 'd'].map((prompt) => askClaude(client, prompt)),
        ),
      stage.options(),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(outcomes[2]).toMatchObject({ reason: { status: 400 } });
    expect(stage.simulator.meter.total).toBe(3);
  });

  it('is refused as a whole when the lines it names are not in it', async () => {
    const errors = [{ code: 'invalid_json_line', message: 'Which line?', line: 99 }];
    stage.simulator.faults.nextBatch({ outcome: 'failed', errors });
    const { outcomes } = await askOpenai();
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 400 } });
    }
  });
});
