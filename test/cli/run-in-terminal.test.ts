import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { compiledCli } from '../support/processes/compiled.ts';
import { runCli, variablesOf } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { runCommand } from '../support/terminal/run-in-terminal.ts';
import { until } from '../support/until.ts';

const asking = fileURLToPath(
  new URL('../support/programs/launched/registered.mjs', import.meta.url),
);
const ctrlC = '\u0003';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const url = () => `${stage.simulator.baseUrl('openai')}/chat/completions`;

/** The real command in a terminal, which sends Ctrl-C to the parent and to the program at once. */
async function startInTerminal(environment: Record<string, string>) {
  const words = [process.execPath, await compiledCli(), 'run', asking, url(), '2'];
  return runCommand(words.map((word) => `'${word}'`).join(' '), 80, environment);
}

it('shows a run, leaves in order at Ctrl-C, and continues', async () => {
  const { simulator } = stage;
  const environment = variablesOf(stage);
  simulator.hold();
  const run = await startInTerminal(environment);
  const isShown = () => /openai m .*running/.test(run.written());
  await until(isShown, 'the batch on the screen');
  run.type(ctrlC);
  const { code } = await run.ended;
  expect(code).toBe(130);
  const { text, scrolls } = await run.shown();
  expect(scrolls).toBe(1);
  expect(text.join(' ')).toContain('interrupted: 2 calls wait in 1 batch at the provider');
  expect(text.join(' ')).toMatch(/run the same command again to go on where it stopped/);

  simulator.release();
  const again = await (await startInTerminal(environment)).ended;
  expect(again.code).toBe(0);
  expect(again.written.match(/answer to "registered"/g)).toHaveLength(2);
  expect(simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});

it('ends at once at the second Ctrl-C, while a create is under way', async () => {
  const { simulator } = stage;
  const path = /\/batches$/;
  simulator.faults.add({ method: 'POST', path, action: { kind: 'delay', ms: 60_000 } });
  const run = await startInTerminal(variablesOf(stage));
  await until(() => simulator.countRequests('POST', path) > 0, 'the create');
  run.type(ctrlC);
  run.type(ctrlC);
  const { code } = await run.ended;
  expect(code).toBe(130);
  expect((await run.shown()).scrolls).toBe(1);
});

it('tells the program and its user that the ledger cannot be opened, and sends nothing', async () => {
  const environment = { ...variablesOf(stage, `${asking}/ledger.db`), BATCHLING_DISPLAY: 'plain' };
  const { code, stderr } = await runCli(['run', asking, url(), '1'], { environment });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^batchling: .*ledger/m);
  expect(stage.simulator.meter.total).toBe(0);
});
