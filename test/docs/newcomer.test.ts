import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blocksOf, readPage } from './code-blocks.ts';
import { type NewcomerProject, openNewcomerProject } from './newcomer-project.ts';
import type { NewcomerShell, Told } from './newcomer-shell.ts';

/** The page with its steps: each has lines to type, and files to save. */
const page = 'docs/getting-started.md';
const places = [...readPage(page).matchAll(/^## (\d)\. /gm)].map(({ index }) => {
  return readPage(page).slice(0, index).split('\n').length;
});
const lineOf = ({ place }: { place: string }) => Number(place.split(':')[1]);

function linesOf(step: number): string[] {
  const [from = 0, to = Number.POSITIVE_INFINITY] = places.slice(step - 1);
  return blocksOf(page)
    .filter((block) => block.language === 'sh' && lineOf(block) > from && lineOf(block) < to)
    .flatMap(({ code }) => code.trim().split('\n'));
}

let opened: NewcomerProject;
let folder: string;
let project: string;
let shell: NewcomerShell;
let simulator: ChildProcess | undefined;

beforeAll(async () => {
  opened = await openNewcomerProject();
  ({ folder, project, shell } = opened);
  for (const { file, code } of blocksOf(page)) {
    if (file !== undefined) await writeFile(join(project, file), code);
  }
});
afterAll(async () => {
  simulator?.kill();
  await opened?.close();
});

/** Types all lines of a step; each must end well. */
async function follow(step: number): Promise<Told[]> {
  const told: Told[] = [];
  for (const line of linesOf(step)) {
    if (line.startsWith('export ')) shell.export(line);
    // What npx does is seen in the first step; it takes half a second each time.
    else told.push(await (step === 1 ? shell.type(line) : quick(line)));
  }
  expect(told.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual(told.map(() => 0));
  return told;
}

/** The same without npx, which finds the same. */
function quick(line: string, more: Record<string, string | undefined> = {}): Promise<Told> {
  return shell.type(line.replace(/^npx /, 'node_modules/.bin/'), more);
}

const capitals = ['Norway', 'Ecuador', 'Korea', 'Ghana'];

it('the page has eight steps', () => {
  expect(places).toHaveLength(8);
  expect(linesOf(1)).toEqual(['npm init -y', 'npm install batchling openai', 'npx batchling demo']);
});

it('step 1: installs and shows the demo', async () => {
  const told = await follow(1);
  expect(told.at(-1)?.stdout).toMatch(/done in .*: 12 calls answered\n {2}batches {2}2\n/);
  const wrong = await quick('npx batchling dmeo');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean demo?') });
});

it('what is installed is what docs/dependencies.md names, and runs without a compiler', async () => {
  const installed = (await readdir(join(project, 'node_modules'))).filter((name) =>
    /^[^.]/.test(name),
  );
  const scoped = installed.filter((name) => name.startsWith('@'));
  const inScopes = await Promise.all(
    scoped.map(async (scope) => {
      const names = await readdir(join(project, 'node_modules', scope));
      return names.map((name) => (scope === '@esbuild' ? '@esbuild/*' : `${scope}/${name}`));
    }),
  );
  const names = [...installed.filter((name) => !name.startsWith('@')), ...inScopes.flat()];
  const named = readPage('docs/dependencies.md');
  const unnamed = names.filter((name) => !named.includes(`\`${name}\``));
  expect(unnamed).toEqual(['batchling', 'openai']);
});

it('the package can be loaded by require, and all its entries by import', async () => {
  const loaded = await shell.type(
    `node -e "console.log(typeof require('batchling').batchify, typeof require('batchling/core').batchify)"`,
  );
  expect(loaded).toMatchObject({ code: 0, stdout: 'function function\n' });
  const entries = ['simulator', 'batchers', 'register'].map(
    (name) => `import('batchling/${name}')`,
  );
  expect(await shell.type(`node -e "Promise.all([${entries}])"`)).toMatchObject({ code: 0 });
});

it('steps 2 and 3: a program and the simulator', async () => {
  const [start = ''] = linesOf(3);
  expect(start).toBe('npx batchling simulate');
  // Another test may use the usual port.
  simulator = shell.start(`${start.replace(/^npx /, 'node_modules/.bin/')} --port 0`);
  let printed = '';
  simulator.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await expect.poll(() => printed).toContain('Stop it with Ctrl-C');
  const exports = printed.split('\n').filter((line) => line.includes('export '));
  expect(exports).toHaveLength(3);
  for (const line of [...exports, ...linesOf(3).slice(1)]) shell.export(line);
  expect(linesOf(3).slice(1)).toHaveLength(3);

  const [file, host, key, port] = await Promise.all([
    quick('npx batchling capitals.mjs'),
    quick('npx batchling run capitals.mjs', { BATCHLING_HOSTS: undefined }),
    quick('npx batchling run capitals.mjs', { OPENAI_API_KEY: undefined }),
    quick('npx batchling simulate --prot 4010'),
  ]);
  expect(file).toMatchObject({ code: 2, stdout: '' });
  expect(file.stderr).toContain(
    "unknown command 'capitals.mjs'. To run a file: batchling run capitals.mjs",
  );
  expect(host.stderr).toMatch(/is not batched: no option names its host.*hosts: \{ 'http:/);
  expect(host.stdout).toContain('Norway: ');
  expect(key).toMatchObject({ code: 1, stderr: expect.stringContaining('Missing credentials') });
  expect(port).toMatchObject({ code: 2, stderr: expect.stringContaining('--port') });
});

it('step 4: a dry run', async () => {
  const [told] = await follow(4);
  expect(told?.stdout).toBe('');
  expect(told?.stderr).toContain('batchling: dry run: nothing was sent. 4 calls\n');
  expect(told?.stderr).toMatch(/openai gpt-5-mini: 4 requests, 1 batch, .*\$/);
  const wrong = await quick('npx batchling run --windw 2s capitals.mjs');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--window') });
});

it('step 5: batches, and the second time the ledger', async () => {
  const [first, again] = await follow(5);
  const answers = first?.stdout.trim().split('\n') ?? [];
  expect(answers.map((line) => line.split(':')[0])).toEqual(capitals);
  expect(first?.stderr).toMatch(/sent bl_\w+: 4 requests to openai gpt-5-mini/);
  expect(first?.stderr).toMatch(/saved +\$/);

  expect(again?.stdout).toBe(first?.stdout);
  expect(again?.stderr).toMatch(/from ledger +4/);
  expect(again?.stderr).not.toContain('sent bl_');

  const [misplaced, missing] = await Promise.all([
    quick('npx batchling run capitals.mjs --dry-run'),
    quick('npx batchling run capitols.mjs'),
  ]);
  expect(misplaced).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--dry-run stands after the file'),
  });
  expect(missing).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no file capitols.mjs'),
  });
});

it('step 6: looks at the batches', async () => {
  const [list, doctor] = await follow(6);
  expect(list?.stdout).toMatch(/bl_\w+ +done +openai +gpt-5-mini +4 +4 /);
  expect(doctor?.stdout).toMatch(/^ok {4}keys +openai \(OPENAI_API_KEY\)/m);
  expect(doctor?.stdout).not.toMatch(/^bad/m);
  const wrong = await quick('npx batchling show bl_nothing');
  expect(wrong).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('bl_nothing'),
  });
});

it('step 7: a part of a program', async () => {
  const [told] = await follow(7);
  expect(told?.stdout.trim().split('\n')).toHaveLength(3);
  expect(told?.stderr).toContain('3 requests to openai gpt-5-mini');
  const wrong = `node -e "require('batchling').batchify(() => 1, { windw: '1s' })"`;
  expect((await shell.type(wrong)).stderr).toMatch(/windw.*[Dd]id you mean.*window/s);
});

it('step 8: the commands for a real provider work; here the simulator answers them', async () => {
  const [dry, run] = await follow(8);
  expect(dry?.stderr).toContain('4 answered from the ledger');
  expect(run?.stdout.trim().split('\n')).toHaveLength(4);
  const wrong = await quick('npx batchling run --budget one capitals.mjs');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('--budget') });
  simulator?.kill();
  if (simulator) await once(simulator, 'close');
});

it('has left its ledger in the cache folder, and nothing else in the project', async () => {
  expect(existsSync(join(folder, 'cache/batchling/ledger.db'))).toBe(true);
  expect((await readdir(project)).toSorted()).toEqual([
    'capitals.mjs',
    'node_modules',
    'package-lock.json',
    'package.json',
    'some.mjs',
  ]);
});
