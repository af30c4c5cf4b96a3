import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startSimulator } from '../../../src/simulator/index.ts';

const main = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

let folder: string;
let child: ChildProcess | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'batchling-simulate-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
afterEach(() => {
  child?.kill();
  child = undefined;
});

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

/** Starts `batchling simulate`; resolves once it has printed something or ended. */
async function simulate(...flags: string[]) {
  const given = ['--import', 'tsx', main, 'simulate', '--port', '0', '--speed', '5', ...flags];
  const started = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'pipe'] });
  child = started;
  let stdout = '';
  let stderr = '';
  started.stdout.on('data', (text) => {
    stdout += String(text);
  });
  started.stderr.on('data', (text) => {
    stderr += String(text);
  });
  const closed = once(started, 'close');
  await Promise.race([once(started.stdout, 'data'), closed]);
  if (stdout === '') await closed;
  return { code: started.exitCode, stdout, stderr };
}

function ask(baseURL: string, content: string, model = 'gpt-5-mini') {
  const client = new OpenAI({ apiKey: 'any', baseURL, maxRetries: 0 });
  return client.chat.completions.create({ model, messages: [{ role: 'user', content }] });
}

it('says what to set in the terminal of the program', async () => {
  const { stdout, stderr } = await simulate();
  const [, url] = /^The simulator listens on (\S+)\. /.exec(stdout) ?? [];
  expect(stdout).toContain(`export OPENAI_BASE_URL=${url}/openai/v1\n`);
  expect(stdout).toContain(`export ANTHROPIC_BASE_URL=${url}/anthropic\n`);
  expect(stdout).toContain(
    `export BATCHLING_HOSTS="${url}/openai/v1=openai,${url}/anthropic=anthropic"\n`,
  );
  expect(stderr).toBe('');
  const completion = await ask(`${url}/openai/v1`, 'why?');
  expect(completion.choices[0]?.message.content).toContain('answer to "why?"');
});

it.each([
  ['the default export', 'export default ({ prompt }) => prompt.toUpperCase();'],
  ['the export `answer`', 'export const answer = async ({ prompt }) => prompt.toUpperCase();'],
])('answers with %s of a module', async (name, text) => {
  const file = await write(`${name.includes('default') ? 'default' : 'named'}.mjs`, text);
  const { stdout } = await simulate('--answers', file, '--json');
  const completion = await ask(JSON.parse(stdout).openai, 'why?');
  expect(completion.choices[0]?.message.content).toBe('WHY?');
});

it('refuses models that it was not told of', async () => {
  const { stdout } = await simulate('--models', 'gpt-5-mini, gpt-5', '--json');
  const { openai } = JSON.parse(stdout);
  await ask(openai, 'why?', 'gpt-5');
  await expect(ask(openai, 'why?', 'gpt-6')).rejects.toMatchObject({ code: 'model_not_found' });
});

it.each([
  ['a file that is not there', 'missing.mjs', null, 'there is no file'],
  [
    'a module without an answer',
    'without.mjs',
    'export const answers = 1;',
    'must export a function as `default` or `answer`, but exports answers',
  ],
  ['a module that throws', 'throws.mjs', 'throw new Error("out of order")', 'out of order'],
  ['a module with a slip', 'slip.mjs', 'export default (', 'SyntaxError'],
])('ends with the code of wrong usage for %s', async (_name, name, text, told) => {
  const file = text === null ? join(folder, name) : await write(name, text);
  const { code, stdout, stderr } = await simulate('--answers', file);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: --answers: /);
  expect(stderr).toContain(told);
});

it('ends with the code of wrong usage for a port that is in use', async () => {
  const other = await startSimulator();
  const { port } = new URL(other.url);
  const { code, stderr } = await simulate('--port', port);
  await other.close();
  expect(code).toBe(2);
  expect(stderr).toContain(`--port: ${port} is in use`);
});
