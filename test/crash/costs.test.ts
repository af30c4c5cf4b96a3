import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { resultOf, runProgram } from '../support/processes/run-program.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** The same in the batch and in the totals of the day. */
async function costIn(store: string) {
  const ledger = await openLedger(store);
  const [batch] = await ledger.list();
  const [total] = await ledger.costs({ by: [] });
  await ledger.close();
  const { cost = {} } = batch ?? {};
  expect(total?.inputTokens).toBe(cost.inputTokens);
  expect(total?.paid).toBeCloseTo(cost.paid ?? 0, 12);
  return cost;
}

it('what a killed run has collected counts once, whoever collects the rest', async () => {
  const store = stage.newStore();
  const providers = { openai: { prices: { '*': { input: 2, output: 2 } } } };
  const options = stage.options({ store, providers, batchSize: 1_500, window: '10s' });
  // More than are stored in one go, so that the killed run has collected a part of them.
  const input = { count: 1_500, baseURL: stage.simulator.baseUrl('openai'), options };
  await runProgram('ask-many', { ...input, dies: true });
  const { inputTokens: early = 0 } = await costIn(store);
  expect(early).toBeGreaterThan(0);

  const tokens = await resultOf<number>('ask-many', { ...input, dies: false });
  const { inputTokens = 0, outputTokens = 0, paid, saved } = await costIn(store);
  expect(early).toBeLessThan(inputTokens);
  expect(inputTokens + outputTokens).toBe(tokens);
  // Half of two dollars for a million tokens.
  expect(paid).toBeCloseTo(tokens / 1_000_000, 9);
  expect(saved).toBeCloseTo(tokens / 1_000_000, 9);
  expect(stage.simulator.meter.executedTwice()).toEqual([]);
});
