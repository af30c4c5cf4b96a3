import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runCli, variablesOf } from '../support/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

const folder = fileURLToPath(new URL('../support/vitest-project', import.meta.url));

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `about ${prompt}` });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

it.each(['forks', 'threads'])('runs tests that ask a model in batches, with %s', async (pool) => {
  const environment = {
    ...variablesOf(stage),
    OPENAI_API_KEY: 'sk-example',
    OPENAI_BASE_URL: stage.simulator.baseUrl('openai'),
  };
  const vitest = ['vitest', 'run', '--reporter', 'json', '--pool', pool, '--maxWorkers', '2'];
  const testing = ['exec', '--', ...vitest];
  const passed = { success: true, numPassedTests: 6, numTotalTests: 6 };

  const first = await runCli(testing, { folder, environment });
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(first.stdout)).toMatchObject(passed);
  const { meter } = stage.simulator;
  expect(meter.summary()).toMatchObject({ batched: 6, realtime: 0 });

  // A file of tests is a process or a thread of its own, and both are one run.
  const { stdout } = await runCli(['ls', '--json'], { folder, environment });
  const listed = JSON.parse(stdout).batches as { run: string }[];
  expect(new Set(listed.map(({ run }) => run)).size).toBe(1);
  expect(listed.length).toBeGreaterThan(1);

  const again = await runCli(testing, { folder, environment });
  expect(JSON.parse(again.stdout)).toMatchObject(passed);
  expect(meter.total).toBe(6);
});
