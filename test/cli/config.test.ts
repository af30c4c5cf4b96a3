import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findConfig } from '../../src/options/config/find-config.ts';
import { loadConfig } from '../../src/options/config/load-config.ts';
import { compiledCli } from '../support/processes/compiled.ts';
import { type CliOptions, runCli, writeFiles } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let projects = 0;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const asking = `
  async function ask(model) {
    const response = await fetch(process.env.BASE + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'ping' }] }),
    });
    await response.text();
    return model + ' ' + response.headers.get('x-batchling-source');
  }
  console.log((await Promise.all(['a', 'b'].map(ask))).join(', '));`;

/** A project with a config file and a program that asks the models a and b. */
async function project(files: Record<string, string>): Promise<string> {
  projects += 1;
  const folder = join(stage.folder, `project ${projects}`);
  await writeFiles(folder, { 'package.json': '{}', 'deep/down/ask.mjs': asking, ...files });
  return folder;
}

function run(folder: string, given: string[] = [], options: CliOptions = {}) {
  const base = stage.simulator.baseUrl('openai');
  const environment = { BASE: base, BATCHLING_HOSTS: `${base}=openai`, BATCHLING_POLL: '10ms' };
  return runCli(['run', ...given, 'ask.mjs'], {
    folder: join(folder, 'deep/down'),
    environment: { ...environment, ...options.environment },
  });
}

const json = (options: object) => JSON.stringify({ window: '50ms', store: ':memory:', ...options });

describe('the config file', () => {
  it('in TypeScript may hold functions, and import from the project', async () => {
    const folder = await project({
      'models.ts': 'export enum Model { A = "a" }',
      'batchling.config.ts': `
        import { Model } from './models.js';
        import type { BatchifyOptions } from 'batchling';
        export default {
          window: '50ms',
          store: 'ledger.db',
          bypass: 'ignore',
          only: ({ model }) => model === Model.A,
        } satisfies BatchifyOptions;`,
    });
    const { code, stdout, stderr } = await run(folder);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'a batch, b null\n', stderr: '' });
    // Found from two folders below, and the ledger lies beside it.
    const path = join(folder, 'batchling.config.ts');
    expect(findConfig(join(folder, 'deep'))).toBe(path);
    expect(await loadConfig(path)).toMatchObject({
      path,
      options: { store: join(folder, 'ledger.db') },
    });
    expect(existsSync(join(folder, 'ledger.db'))).toBe(true);
  });

  it('can be JavaScript, in a CommonJS package too', async () => {
    const text = 'module.exports = { window: "50ms", only: "openai:b" };';
    const folder = await project({ 'batchling.config.js': text });
    expect(await loadConfig(join(folder, 'batchling.config.js'))).toMatchObject({
      options: { only: 'openai:b' },
    });
  });

  it('ranks below variables, and these below flags', async () => {
    const config = json({ only: 'openai:none', bypass: 'ignore' });
    const folder = await project({ 'batchling.config.json': config });
    const environment = { BATCHLING_ONLY: 'openai:a' };
    expect((await run(folder, [], { environment })).stdout).toBe('a batch, b null\n');
    const byFlag = await run(folder, ['--only', 'openai:b'], { environment });
    expect(byFlag.stdout).toBe('a null, b batch\n');
  });

  it('counts in every process of exec, and for scopes that a program opens itself', async () => {
    const config = json({ only: 'openai:a', bypass: 'ignore' });
    const index = new URL('../index.js', pathToFileURL(await compiledCli())).href;
    const folder = await project({
      'other.json': config,
      'scope.mjs': `
        import { batchify } from '${index}';
        await batchify(() => import('./deep/down/ask.mjs'));`,
    });
    const base = stage.simulator.baseUrl('openai');
    const environment = { BASE: base, BATCHLING_HOSTS: `${base}=openai`, BATCHLING_POLL: '10ms' };
    const line = 'node deep/down/ask.mjs; node scope.mjs';
    const given = ['exec', '--config', 'other.json', '--', 'sh', '-c', line];
    const { stdout } = await runCli(given, { folder, environment });
    expect(stdout).toBe('a batch, b null\n'.repeat(2));
  });

  it('is not looked for above the package', async () => {
    const folder = await project({ 'batchling.config.json': '{ "no": 1 }' });
    await writeFiles(folder, { 'deep/package.json': '{}' });
    expect(findConfig(join(folder, 'deep', 'down'))).toBeUndefined();
    const found = findConfig(folder) ?? '';
    await expect(loadConfig(found)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});

describe('a config file with an error', () => {
  it.each([
    [
      'an unknown option',
      'json',
      '{ "windwo": "1s" }',
      'Unknown option "windwo". Did you mean window?',
    ],
    ['a bad value', 'json', '{ "window": "soon" }', 'Invalid option window: "soon". Allowed: '],
    ['broken JSON', 'json', '{ "window": ', 'JSON'],
    ['no default export', 'mjs', 'export const window = 1;', 'it must export its options'],
    ['an error of its own', 'mjs', 'throw new Error("out of order")', 'Error: out of order'],
  ])('is refused with its name: %s', async (_, ending, text, told) => {
    const folder = await project({ [`batchling.config.${ending}`]: text });
    const path = join(folder, `batchling.config.${ending}`);
    await expect(loadConfig(path)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(`^Config file ${path}: `),
    });
    await expect(loadConfig(path)).rejects.toThrow(told);
  });

  it('ends the run with 2 and names the place', async () => {
    const folder = await project({ 'batchling.config.ts': 'export default {' });
    const { code, stdout, stderr } = await run(folder);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`error: Config file ${join(folder, 'batchling.config.ts')}: `);
    expect(stderr).toContain('config.ts:1');
  });
});
