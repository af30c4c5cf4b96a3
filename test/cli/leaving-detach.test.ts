import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openStage, type Stage } from '../support/stage.ts';
import { type Ended, type Launch, launch } from './launched.ts';

let stage: Stage;
let store: string;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => {
  stage.simulator.reset();
  store = stage.newStore();
});

async function detached(given: Partial<Launch> = {}): Promise<Ended> {
  const environment = { BATCHLING_DETACH: 'true', ...given.environment };
  return (await launch(stage, { store, ...given, environment })).ended;
}

it.each([
  ['openai', 'top-level await'],
  ['openai', 'promise'],
  ['anthropic', 'top-level await'],
  ['anthropic', 'promise'],
] as const)('leaves %s batches to the next run (%s)', async (provider, form) => {
  const { simulator } = stage;
  simulator.hold();
  const first = await detached({ provider, form });
  expect(first).toMatchObject({ code: 75, lines: ['asking'] });
  expect(first.stderr).toContain('2 calls wait in 1 batch at the provider');
  expect(first.stderr).toContain('batchling collect');
  expect(simulator.batches()).toHaveLength(1);

  expect(await detached({ provider, form })).toMatchObject({ code: 75, lines: ['asking'] });

  simulator.release();
  const last = await detached({ provider, form });
  expect(last).toMatchObject({ code: 3, signal: null });
  expect(last.lines).toHaveLength(3);
  expect(simulator.batches()).toHaveLength(1);
  expect(simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});
