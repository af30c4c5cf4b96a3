import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runCli, startCli, variablesOf } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { until } from '../support/until.ts';

const folder = fileURLToPath(new URL('../support/vitest-project', import.meta.url));

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ answer: ({ prompt }) => `about ${prompt}` });
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const pools = ['forks', 'threads'];
const vitest = (pool: string) => {
  return ['--', 'vitest', 'run', '--reporter', 'json', '--pool', pool, '--maxWorkers', '2'];
};
const variables = () => ({
  ...variablesOf(stage),
  OPENAI_API_KEY: 'sk-example',
  OPENAI_BASE_URL: stage.simulator.baseUrl('openai'),
  BATCHLING_DISPLAY: 'plain',
});

it.each(pools)('runs tests that ask a model in batches, with %s', async (pool) => {
  const environment = variables();
  const testing = ['exec', ...vitest(pool)];
  const passed = { success: true, numPassedTests: 6, numTotalTests: 6 };

  const first = await runCli(testing, { folder, environment });
  expect(first).toMatchObject({ code: 0 });
  expect(JSON.parse(first.stdout)).toMatchObject(passed);
  // Its workers are killed when they have their answers.
  expect(first.stderr).toMatch(/done in .*: 6 calls answered\n.* batches +2\n/);
  const { meter } = stage.simulator;
  expect(meter.summary()).toMatchObject({ batched: 6, realtime: 0 });

  // A file of tests is a process or a thread of its own, and both are one run.
  const { stdout } = await runCli(['ls', '--json'], { folder, environment });
  const listed = JSON.parse(stdout).batches as { run: string }[];
  expect(new Set(listed.map(({ run }) => run)).size).toBe(1);
  expect(listed.length).toBeGreaterThan(1);

  const again = await runCli(testing, { folder, environment });
  expect(JSON.parse(again.stdout)).toMatchObject(passed);
  expect(again.stderr).toMatch(/: 6 calls answered\n(.*\n)*.* from ledger +6\n/);
  expect(meter.total).toBe(6);
});

it.each([
  ...pools.map((pool) => ({ dryRun: '--dry-run', pool, code: 0 })),
  { dryRun: '--dry-run=deep', pool: 'forks', code: 1 },
])('ends after $dryRun with $pool, and tells what all workers would send', async (given) => {
  const { dryRun, pool, code } = given;
  const testing = ['exec', dryRun, ...vitest(pool)];
  const dry = await runCli(testing, { folder, environment: variables() });
  expect(dry.stderr).toMatch(/dry run: nothing was sent\. 6 calls\n.*6 requests, 2 batches/);
  expect(dry.code).toBe(code);
  expect(stage.simulator.requests).toEqual([]);
});

it('says that --detach cannot end workers, which stay until they have their answers', async () => {
  stage.simulator.hold();
  const testing = ['exec', '--detach', ...vitest('forks')];
  const running = await startCli(testing, { folder, environment: variables() });
  let told = '';
  running.process.stderr?.on('data', (text: string) => {
    told += text;
  });
  await until(() => told.includes('--detach cannot end process'), 'the message');
  stage.simulator.release();
  const { code, stderr } = await running.ended;
  expect(code).toBe(0);
  expect(stderr.match(/--detach cannot end process .* is a worker that waits/g)).toHaveLength(1);
});
