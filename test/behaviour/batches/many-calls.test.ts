import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchify } from '../../../src/index.ts';
import { ask, askClaude } from '../../support/ask.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

const each = 500;
const indices = Array.from({ length: each }, (_, index) => index);

it('gives each of 2,000 concurrent callers its own answer and bills each request once', async () => {
  const { simulator } = stage;
  const openai = stage.openai();
  const anthropic = stage.anthropic();
  const scope = batchify(stage.options({ window: '1h', maxWindow: '1h' }));

  const asked = scope.run(() =>
    Promise.all([
      Promise.all(indices.map((index) => ask(openai, `small ${index}.`, 'gpt-small'))),
      Promise.all(indices.map((index) => ask(openai, `large ${index}.`, 'gpt-large'))),
      Promise.all(indices.map((index) => askClaude(anthropic, `claude ${index}.`))),
      // The length of the vector says whose it is.
      Promise.all(
        indices.map((index) =>
          openai.embeddings.create({
            model: 'gpt-small',
            input: `text ${index}`,
            dimensions: index + 1,
          }),
        ),
      ),
    ]),
  );
  await until(() => scope.stats.captured === 4 * each, 'all calls to be captured');
  await scope.flush();
  const [small, large, claude, vectors] = await asked;
  await scope.close();

  for (const index of indices) {
    expect(small[index]).toContain(`"small ${index}." from gpt-small`);
    expect(large[index]).toContain(`"large ${index}." from gpt-large`);
    expect(claude[index]).toContain(`"claude ${index}." from claude-test`);
    expect(vectors[index]?.data[0]?.embedding).toHaveLength(index + 1);
  }

  const { meter } = simulator;
  expect(meter.total).toBe(4 * each);
  expect(meter.failed).toBe(0);
  expect(meter.executedTwice()).toEqual([]);
  expect(meter.realtime).toBe(0);

  const groups = new Map<string | null, Set<string>>();
  for (const { batchId, provider, endpoint, model } of meter.executions) {
    const kinds = groups.get(batchId) ?? new Set();
    groups.set(batchId, kinds.add(`${provider} ${endpoint} ${model}`));
  }
  const kinds = [...groups.values()].map((kinds) => [...kinds].join(' and '));
  expect(kinds.sort()).toEqual([
    'anthropic /v1/messages claude-test',
    'openai /v1/chat/completions gpt-large',
    'openai /v1/chat/completions gpt-small',
    'openai /v1/embeddings gpt-small',
  ]);
  expect(scope.stats).toMatchObject({ captured: 2000, answered: 2000, failed: 0, bypassed: 0 });
});
