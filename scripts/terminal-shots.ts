// Prints what a terminal of 80 and of 50 columns shows for a handful of runs, from real pseudo-terminals:
// npx tsx scripts/terminal-shots.ts
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TerminalJob } from '../test/support/programs/launched/terminal-job.ts';
import { openStage } from '../test/support/stage.ts';
import {
  type RunningInTerminal,
  runCommand,
  runInTerminal,
} from '../test/support/terminal/run-in-terminal.ts';
import { until } from '../test/support/until.ts';

const stage = await openStage({
  speed: { validating: 300, running: 3_000, finalizing: 300, cancelling: 10 },
});
const { simulator } = stage;
const baseURL = simulator.baseUrl('openai');
const patience = { window: 1_000, poll: 300 };
let columns = 80;

function start(given: Partial<TerminalJob>, store = stage.newStore()): Promise<RunningInTerminal> {
  const options = stage.options({ ...patience, store, ...given.options });
  return runInTerminal(
    'launched/terminal-job',
    { baseURL, calls: 3_000, ...given, options },
    columns,
  );
}

function show(title: string, lines: readonly string[]): void {
  process.stdout.write(`\n--- ${title}, ${columns} columns\n${lines.join('\n')}\n`);
}

async function shots(title: string, run: RunningInTerminal, during?: RegExp): Promise<void> {
  if (during) {
    await until(() => during.test(run.lines().join('\n')), title);
    show(`${title}, on the way`, run.lines());
  }
  const { lines, code } = await run.ended;
  show(`${title}, at the end (exit code ${code})`, lines);
}

async function interrupted(run: RunningInTerminal, when: RegExp): Promise<void> {
  await until(() => when.test(run.lines().join('\n')), 'the moment to stop');
  await sleep(300);
  run.type('\u0003');
  await run.ended;
}

for (columns of [80, 50]) {
  const store = stage.newStore();
  await shots('a normal run', await start({ prints: ['the program itself\n'] }, store), /\d done/);
  await shots('a re-run', await start({}, store));

  const left = stage.newStore();
  const killed = await start({}, left);
  await interrupted(killed, /under way|of 3,000 done/);
  show('Ctrl-C', killed.lines());
  await shots('a resumed run', await start({}, left), /\d done/);

  const nowhere = 'http://127.0.0.1:9/v1';
  const offline = await start({ baseURL: nowhere, options: { hosts: { [nowhere]: 'openai' } } });
  await until(() => offline.lines().filter((line) => /reach/.test(line)).length > 1, 'the trouble');
  show('no network', offline.lines());
  offline.type('\u0003');
  await offline.ended;

  simulator.configure({ speed: { running: 300 } });
  await shots('a limited program', await start({ calls: 30, atOnce: 10 }));
  simulator.configure({ speed: { running: 3_000 } });
  await shots('a thrown error', await start({ throws: 'no such file' }));

  const main = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
  const demo = runCommand(`'${process.execPath}' --import tsx '${main}' demo`, columns);
  await interrupted(demo, /under way|done/);
  show('Ctrl-C in the demo', demo.lines());
}
await stage.close();
