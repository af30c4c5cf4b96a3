import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, writeFiles } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let folder: string;
let store: string;
beforeAll(async () => {
  stage = await openStage();
  folder = join(stage.folder, 'project');
  store = join(folder, 'a-file', 'ledger.db');
  await writeFiles(folder, {
    'a-file': '',
    'program.mjs': 'console.log("started");',
    'package.json': '{}',
    'configured/package.json': '{}',
    'configured/program.mjs':
      'import { spawnSync } from "node:child_process";' +
      'console.log("started", process.env.BATCHLING_UNCHECKED);' +
      'spawnSync(process.execPath, ["-e", "console.log(2)"], { stdio: "inherit" });',
    'configured/batchling.config.json': JSON.stringify({ store }),
  });
});
afterAll(() => stage.close());

const inFolder = (given: string[], environment: Record<string, string> = {}) =>
  runCli(given, { folder, environment });

describe('a ledger that cannot be used is told before the program starts', () => {
  const reason = () =>
    `The ledger ${store} cannot be used: a part of its path is a file, not a folder. Choose another store.`;
  const notStarted = 'The program was not started. Another ledger is named with --store.';

  it.each([
    ['run', ['run', 'program.mjs']],
    ['exec', ['exec', '--', 'node', 'program.mjs']],
    ['a dry run', ['run', '--dry-run', 'program.mjs']],
  ])('by %s', async (_what, given) => {
    expect(await inFolder(given, { BATCHLING_STORE: store })).toEqual({
      code: 1,
      stdout: '',
      stderr: `batchling: ${reason()} ${notStarted}\n`,
    });
  });

  it('by a run with a config file, which names it', async () => {
    const given = ['run', 'program.mjs'];
    const finished = await runCli(given, { folder: join(folder, 'configured') });
    const stderr = `error: ${reason()} ${notStarted}\n`;
    expect(finished).toEqual({ code: 1, stdout: '', stderr });
  });

  it('by a gateway', async () => {
    const { code, stdout, stderr } = await inFolder(['serve', '--port', '0'], {
      BATCHLING_STORE: store,
    });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `batchling: ${reason()}\n`,
    });
  });
});

it('with onStoreError "continue" the program starts', async () => {
  const finished = await inFolder(['run', '--on-store-error', 'continue', 'program.mjs'], {
    BATCHLING_STORE: store,
  });
  expect(finished).toEqual({ code: 0, stdout: 'started\n', stderr: '' });
});

it('a dry run makes no ledger, and a run does', async () => {
  const fresh = stage.newStore();
  const environment = { BATCHLING_STORE: fresh };
  await inFolder(['run', '--dry-run', 'program.mjs'], environment);
  expect(existsSync(fresh)).toBe(false);
  expect(await inFolder(['run', 'program.mjs'], environment)).toMatchObject({ code: 0 });
  expect(existsSync(fresh)).toBe(true);
});

it('with a config file, only the first process of a run looks at the ledger', async () => {
  const finished = await runCli(['run', 'program.mjs'], {
    folder: join(folder, 'configured'),
    environment: { BATCHLING_STORE: stage.newStore() },
  });
  expect(finished).toEqual({ code: 0, stdout: 'started undefined\n2\n', stderr: '' });
});
