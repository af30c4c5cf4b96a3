import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BatchifyOptions, batchify } from '../../../src/index.ts';
import { ask } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

/** Asks four questions and returns what the scope has to say about it. */
async function askFour(given: BatchifyOptions) {
  const told: string[] = [];
  const quiet = () => undefined;
  const warn = (text: string) => void told.push(text);
  const logger = { debug: quiet, info: quiet, warn, error: quiet };
  const scope = batchify(stage.options({ logger, ...given }));
  const client = stage.openai();
  let sentAfter: number | undefined;
  scope.on('batch:submitting', () => {
    sentAfter ??= told.length;
  });
  await scope.run(() => Promise.all(['a', 'b', 'c', 'd'].map((prompt) => ask(client, prompt))));
  await scope.close();
  return { stats: scope.stats, told, sentAfter };
}

it('a limit that the account has is kept', async () => {
  const { stats } = await askFour({ providers: { openai: { limits: { requests: 3 } } } });
  expect(stats.batches.submitted).toBe(2);
});

it('a limit that was raised is used', async () => {
  const providers = { openai: { limits: { requests: 60_000 } } };
  const { stats } = await askFour({ providers, batchSize: 60_000 });
  expect(stats.batches.submitted).toBe(1);
});

it('a model without a discount is told before anything is sent', async () => {
  const { told, sentAfter } = await askFour({ providers: { openai: { priceShare: 1 } } });
  expect(told[0]).toContain('openai has no batch discount for gpt-test');
  expect(sentAfter).toBe(1);
});

it('a model with a discount is not worth a word', async () => {
  expect((await askFour({})).told).toEqual([]);
});
