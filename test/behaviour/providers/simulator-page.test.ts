import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadAnswers } from '../../../src/cli/launch/load-answers.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

let folder: string;
let blocks: { language: string; code: string }[];

beforeAll(async () => {
  const page = await readFile(join(root, 'docs/simulator.md'), 'utf8');
  blocks = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, language = '', code = '']) => {
      return { language, code };
    },
  );
  folder = await mkdtemp(join(tmpdir(), 'batchling-page-'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const [example = '', ...pieces] = blocks
    .filter(({ language }) => language === 'ts')
    .map(({ code }) => code);
  await writeFile(join(folder, 'example.test.ts'), example);
  await writeFile(join(folder, 'pieces.ts'), pieceModule(pieces));
  await writeFile(join(folder, 'pieces.test.ts'), pieceTest);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The shorter pieces have a simulator at hand. */
function pieceModule(pieces: readonly string[]): string {
  const functions = pieces.map((code) => `async (simulator: Simulator) => {\n${code}}`);
  return [
    "import type { Simulator } from 'batchling/simulator';",
    `export const pieces = [${functions.join(',\n')}];`,
  ].join('\n');
}

const pieceTest = `
import { startSimulator } from 'batchling/simulator';
import { it } from 'vitest';
import { pieces } from './pieces.ts';

it.each(pieces)('a piece of the page runs', async (piece) => {
  const simulator = await startSimulator();
  await piece(simulator);
  await simulator.close();
});
`;

it('shows a test that passes, and pieces that run', async () => {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const config = join(root, 'test/support/vitest/page.vitest.config.ts');
  const outer = Object.entries(process.env).filter(
    ([name]) => !/^(VITE|TEST|BATCHLING)/.test(name),
  );
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--root', folder, '--config', config, '--reporter', 'json'],
    { env: Object.fromEntries(outer), stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const report = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    numPassedTests: number;
    numTotalTests: number;
    testResults: { assertionResults: { failureMessages: string[] }[]; message: string }[];
  };
  const failures = report.testResults.flatMap(({ assertionResults, message }) => [
    ...(message === '' ? [] : [message]),
    ...assertionResults.flatMap(({ failureMessages }) => failureMessages),
  ]);
  expect(failures).toEqual([]);
  expect(report).toMatchObject({ numPassedTests: 9, numTotalTests: 9 });
  expect(stderr).toBe('');
});

it('shows a module of answers that works', async () => {
  const code = blocks.find(({ language }) => language === 'js')?.code ?? '';
  const file = join(folder, 'answers.mjs');
  await writeFile(file, code);
  const answer = await loadAnswers(file);
  const request = { prompt: 'the weather', asked: 1 } as Parameters<typeof answer>[0];
  expect(await answer(request)).toEqual({ status: 429 });
  expect(await answer({ ...request, asked: 2 })).toBe('You asked: the weather');
});
