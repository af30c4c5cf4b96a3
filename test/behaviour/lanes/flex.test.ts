import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
beforeEach(() => stage.simulator.reset());
afterEach(() => vi.unstubAllEnvs());
afterAll(() => stage.close());

const model = 'gpt-5-mini';
const flex = { lane: 'flex' } as const;

function questions(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `question ${index}`);
}

describe('calls in the flex lane', () => {
  it('go out one by one in the half-price tier, and each gets its own answer', async () => {
    const client = stage.openai();
    const asked = questions(20);
    const answers = await batchify(
      () => Promise.all(asked.map((question) => ask(client, question, model))),
      stage.options(flex),
    );
    answers.forEach((answer, index) => {
      expect(answer).toContain(asked[index]);
    });
    const { meter } = stage.simulator;
    expect(Object.fromEntries(meter.countByTier())).toEqual({ flex: 20 });
    expect(meter.mostAtOnce()).toBeLessThanOrEqual(8);
  });

  it('are answered by the ledger in a later run, whatever lane that has', async () => {
    const client = stage.openai();
    const options = stage.options(flex);
    const run = (lane: 'flex' | 'batch' | 'realtime', name: string) => {
      vi.stubEnv('BATCHLING_RUN', name);
      return batchify(() => ask(client, 'cat', model), { ...options, lane });
    };
    const first = await run('flex', 'first');
    expect(await run('flex', 'second')).toBe(first);
    expect(await run('batch', 'third')).toBe(first);
    expect(await run('realtime', 'fourth')).toBe(first);
    expect(stage.simulator.meter.total).toBe(1);
  });

  it('wait for room, and no caller sees a 429', async () => {
    stage.simulator.configure({ flex: { openai: { full: { first: 5 } } } });
    const client = stage.openai({ maxRetries: 0 });
    const answers = await batchify(
      () => Promise.all(questions(4).map((question) => ask(client, question, model))),
      stage.options({ ...flex, realtimeConcurrency: 2 }),
    );
    expect(answers).toHaveLength(4);
    expect(stage.simulator.meter.refusals).toHaveLength(5);
    expect(stage.simulator.meter.total).toBe(4);
  });
});
