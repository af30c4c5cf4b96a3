import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type CliOptions, runCli, variablesOf, writeFiles } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

const asking = fileURLToPath(
  new URL('../support/programs/launched/registered.mjs', import.meta.url),
);

let stage: Stage;
let folder: string;
beforeAll(async () => {
  stage = await openStage();
  folder = join(stage.folder, 'my project');
  await writeFiles(folder, {
    'package.json': '{ "type": "module" }',
    'inner/package.json': '{}',
    'node_modules/.bin/my-tool':
      '#!/usr/bin/env node\nconsole.log("tool", ...process.argv.slice(2));\n',
    'own loader.mjs': 'globalThis.loaded = "own loader";',
    'see.js': `console.log(JSON.stringify({
      loaded: globalThis.loaded,
      given: process.argv.slice(2),
      run: process.env.BATCHLING_RUN,
      memory: process.env.NODE_OPTIONS.includes('--max-old-space-size=512'),
    }));`,
    'killed.js': `
      const headers = { authorization: 'Bearer sk', 'content-type': 'application/json' };
      const ask = async (content) => {
        const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
        await fetch(process.argv[2], { method: 'POST', headers, body });
      };
      await Promise.all(['a', 'b', 'c'].map(ask));
      process.kill(process.pid, 'SIGKILL');`,
    'two.sh': 'node see.js first; node see.js second; exit 9',
    'not-executable': '#!/bin/sh\n',
    'bin/python3': '#!/bin/sh\necho python3 "$@"\n',
  });
  await chmod(join(folder, 'node_modules/.bin/my-tool'), 0o755);
  await chmod(join(folder, 'not-executable'), 0o644);
  await chmod(join(folder, 'bin/python3'), 0o755);
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const exec = (given: string[], options: CliOptions = {}) =>
  runCli(['exec', ...given], { folder, ...options });

it('captures the Node processes under a command, as one run on one ledger', async () => {
  const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
  const ask = `node '${asking}' ${url} 1`;
  const { code, stdout, stderr } = await exec(['--', 'sh', '-c', `${ask}; ${ask}`], {
    environment: variablesOf(stage),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^(batch: answer to "registered".*\n){2}$/);
  // One run that asks twice wants two samples; two runs would share the first one's answer.
  expect(new Set(stdout.trim().split('\n')).size).toBe(2);
  expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
});

it('counts the answers of a process that is killed as soon as it has them', async () => {
  const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
  const { code, stderr } = await exec(['--', 'node', 'killed.js', url], {
    environment: { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain' },
  });
  expect(code).toBe(128 + 9);
  expect(stderr).toMatch(/done in .*: 3 calls answered\n.* batches +1\n/);
});

it("keeps the user's own NODE_OPTIONS, and the command's exit code", async () => {
  const loader = join(folder, 'own loader.mjs').replaceAll(' ', '%20');
  const NODE_OPTIONS = `--import "file://${loader}" --max-old-space-size=512`;
  const { code, stdout } = await exec(['sh', 'two.sh'], { environment: { NODE_OPTIONS } });
  const [first, second] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(code).toBe(9);
  expect(first).toMatchObject({ loaded: 'own loader', given: ['first'], memory: true });
  expect(second).toEqual({ ...first, given: ['second'] });
});

it('finds the commands of node_modules/.bin in this folder and in those above', async () => {
  const { code, stdout } = await exec(['--window', '1s', '--', 'my-tool', '--', '--window', 'x'], {
    folder: join(folder, 'inner'),
  });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'tool -- --window x\n' });
});

it.each([
  ['127 for no command', ['see.js'], 127, 'not found: see.js. To run a file: batchling run see.js'],
  ['126 for a file that is not executable', ['./not-executable'], 126, 'it is not executable'],
  ['2 without a command', ['--'], 2, "missing required argument 'command'"],
])('exits with %s', async (_, given, code, told) => {
  const finished = await exec(given);
  expect(finished).toMatchObject({ code, stdout: '' });
  expect(finished.stderr).toMatch(/^error: /);
  expect(finished.stderr).toContain(told);
});

it('points to the gateway before a program starts that is not Node', async () => {
  const environment = { BATCHLING_DISPLAY: 'plain', PATH: `${folder}/bin:${process.env.PATH}` };
  const { code, stdout, stderr } = await exec(['--', 'python3', 'ask.py'], { environment });
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'python3 ask.py\n' });
  const [before, end] = stderr.trim().split('\n');
  expect(before).toMatch(/^batchling: python3 is not Node.*batchling exec --gateway/);
  expect(end).toMatch(/^batchling: no LLM call was captured/);
});

it('refuses a flag of ours after the command, unless -- says whose it is', async () => {
  const wrong = await exec(['my-tool', '--dry-run']);
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('batchling exec --dry-run -- my-tool\n');
  expect(wrong.stderr).toContain('batchling exec -- my-tool --dry-run\n');
  expect((await exec(['--', 'my-tool', '--dry-run'])).stdout).toBe('tool --dry-run\n');
});
