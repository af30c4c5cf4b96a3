import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { runCli, variablesOf, writeFiles } from '../../support/processes/run-cli.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const asking = fileURLToPath(
  new URL('../../support/programs/launched/registered.mjs', import.meta.url),
);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

it('ends with 75 while work is under way, whatever the command makes of it, then with answers', async () => {
  const { simulator } = stage;
  const environment = variablesOf(stage);
  const given = [asking, `${simulator.baseUrl('openai')}/chat/completions`, '2'];
  simulator.hold();
  const detached = await runCli(['run', '--detach', ...given], {
    environment: { ...environment, BATCHLING_DISPLAY: 'plain' },
  });
  expect(detached).toMatchObject({ code: 75, stdout: '' });
  expect(detached.stderr).toContain('; the program ends when all is sent\n');
  expect(detached.stderr).toContain(`\`batchling collect --store ${environment.BATCHLING_STORE}\``);
  expect(detached.stderr).toMatch(/\nbatchling: ended after \d+s: 0 of 2 calls answered\n/);
  expect(detached.stderr).not.toMatch(/Ctrl-C|done in/);
  // The shell ends with 0, although its program has left work behind.
  const line = `node ${given.map((word) => `'${word}'`).join(' ')}; true`;
  const again = await runCli(['exec', '--detach', '--', 'sh', '-c', line], { environment });
  expect(again).toMatchObject({ code: 75, stdout: '' });
  simulator.release();
  await until(() => simulator.batches()[0]?.ending === 'completed', 'the end of the batch');
  const finished = await runCli(['run', '--detach', ...given], { environment });
  expect(finished.code).toBe(0);
  expect(finished.stdout.match(/answer to/g)).toHaveLength(2);
  expect(simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});

it('is seen by the commands of the ledger, also where the config file names the ledger', async () => {
  const { simulator } = stage;
  const folder = join(stage.folder, 'project');
  const config = { store: 'own/ledger.db' };
  const files = { 'package.json': '{}', 'batchling.config.json': JSON.stringify(config) };
  await writeFiles(folder, files);
  const { BATCHLING_STORE: _, ...variables } = variablesOf(stage);
  // A place of its own, in case that the config file is not read.
  const cache = { XDG_CACHE_HOME: stage.folder, LOCALAPPDATA: stage.folder, HOME: stage.folder };
  const environment = { ...variables, ...cache, OPENAI_API_KEY: 'sk-registered' };
  const options = { folder, environment };
  const given = [asking, `${simulator.baseUrl('openai')}/chat/completions`, '2'];
  simulator.hold();
  expect(await runCli(['run', '--detach', ...given], options)).toMatchObject({ code: 75 });
  expect((await runCli(['ls'], options)).stdout).toContain('1 batch: 2 requests');
  expect(await runCli(['collect'], options)).toMatchObject({ code: 75 });
  const named = ['--config', join(folder, 'batchling.config.json')];
  const elsewhere = { ...options, folder: stage.folder };
  expect(await runCli(['collect', ...named], elsewhere)).toMatchObject({ code: 75 });
  simulator.release();
});
