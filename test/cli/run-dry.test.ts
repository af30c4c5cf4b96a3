import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiledProgram } from '../support/processes/compiled.ts';
import { runCli, variablesOf } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

const asking = fileURLToPath(
  new URL('../support/programs/launched/registered.mjs', import.meta.url),
);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());

it('sends nothing, and shows what all processes of a run would send as one', async () => {
  const store = stage.newStore();
  const environment = { ...variablesOf(stage, store), BATCHLING_DISPLAY: 'plain' };
  const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
  const line = `node '${asking}' ${url} 2 & node '${asking}' ${url} 3; wait`;
  const dry = await runCli(['exec', '--dry-run', '--', 'sh', '-c', line], { environment });
  expect(dry).toMatchObject({ code: 0, stdout: '' });
  expect(dry.stderr).toMatch(/dry run: nothing was sent\. 5 calls/);
  expect(dry.stderr).toMatch(
    /openai m: 5 requests, 2 batches, about \d+ tokens in, .*price unknown/,
  );
  expect(dry.stderr.match(/dry run/g)).toHaveLength(1);
  expect(stage.simulator.meter.total).toBe(0);
  expect(existsSync(store)).toBe(false);
});

it('is one JSON line where the display is JSON, and goes on with placeholders where it is deep', async () => {
  const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'json' };
  const given = [asking, `${stage.simulator.baseUrl('openai')}/chat/completions`, '2'];
  const deep = await runCli(['run', '--dry-run=deep', ...given], { environment });
  expect(deep.code).toBe(0);
  const lines = deep.stderr.trim().split('\n');
  const [dryRun] = lines.map((text) => JSON.parse(text)).filter(({ event }) => event === 'dry-run');
  expect(dryRun).toMatchObject({ deep: true, calls: 2, batches: 1, queues: [{ requests: 2 }] });
  expect(stage.simulator.meter.total).toBe(0);
});

it('waits for the calls of all scopes of a process before it stops the program', async () => {
  const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'json' };
  const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
  const given = [await compiledProgram('launched/several-scopes'), url];
  const dry = await runCli(['run', '--dry-run', ...given], { environment });
  expect(dry).toMatchObject({ code: 0, stdout: '' });
  const lines = dry.stderr.trim().split('\n');
  const [dryRun] = lines.map((text) => JSON.parse(text)).filter(({ event }) => event === 'dry-run');
  expect(dryRun).toMatchObject({ calls: 6, batches: 3 });
});
