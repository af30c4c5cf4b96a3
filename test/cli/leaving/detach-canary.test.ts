import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';
import { launch } from './launched.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

it('a detached run leaves when its canary has ended and the others are submitted, and the next run has all answers', async () => {
  const { simulator } = stage;
  const store = stage.newStore();
  const environment = { BATCHLING_DETACH: 'true', BATCHLING_CANARY: 'batch' };
  const given = { store, client: 'openai', prompts: ['a', 'b', 'c'], environment } as const;
  const polls = () => simulator.countRequests('GET', /\/batches/);
  simulator.hold();
  const first = await launch(stage, given);
  let hasEnded = false;
  void first.ended.then(() => {
    hasEnded = true;
  });
  await until(() => polls() > 15, 'polls of the canary');
  expect({ hasEnded, batches: simulator.batches().length }).toEqual({
    hasEnded: false,
    batches: 1,
  });

  simulator.release();
  await until(() => simulator.batches()[0]?.ending === 'completed', 'the end of the canary');
  simulator.hold();
  const { code, stderr } = await first.ended;
  expect(code).toBe(75);
  expect(stderr).toContain('detached: 2 calls wait in 1 batch at the provider');
  expect(simulator.batches().map(({ total }) => total)).toEqual([1, 2]);

  simulator.release();
  await until(() => simulator.batches()[1]?.ending === 'completed', 'the end of the others');
  const second = await (await launch(stage, given)).ended;
  expect(second.lines).toHaveLength(4);
  expect(simulator.meter.total).toBe(3);
});
