import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/options/config/read-config.ts';
import { compiledCli } from '../support/compiled.ts';
import { type CliOptions, runCli, writeFiles } from '../support/run-cli.ts';
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
    expect(await readConfig(join(folder, 'deep'))).toMatchObject({
      path: join(folder, 'batchling.config.ts'),
      options: { store: join(folder, 'ledger.db') },
    });
    expect((await run(folder)).stdout).toBe('a ledger, b null\n');
    // Commands on the ledger find the same one.
    const { stdout: listed } = await runCli(['ls', '--json'], { folder: join(folder, 'deep') });
    expect(JSON.parse(listed)).toMatchObject({ store: join(folder, 'ledger.db'), total: 1 });
  });

  it.each([
    ['batchling.config.json', json({ only: 'openai:b', bypass: 'ignore' })],
    [
      'batchling.config.js',
      'module.exports = { window: "50ms", store: ":memory:", only: "openai:b", bypass: "ignore" };',
    ],
  ])('can be %s', async (name, text) => {
    const { stdout, stderr } = await run(await project({ [name]: text }));
    expect({ stdout, stderr }).toEqual({ stdout: 'a null, b batch\n', stderr: '' });
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
    const exec = async (file: string) => {
      const environment = { BASE: base, BATCHLING_HOSTS: `${base}=openai` };
      const given = ['exec', '--config', 'other.json', '--', 'node', file];
      return (await runCli(given, { folder, environment })).stdout;
    };
    expect(await exec('deep/down/ask.mjs')).toBe('a batch, b null\n');
    expect(await exec('scope.mjs')).toBe('a batch, b null\n');
  });

  it('is not looked for above the package', async () => {
    const folder = await project({ 'batchling.config.json': '{ "no": 1 }' });
    await writeFiles(folder, { 'deep/package.json': '{}' });
    expect(await readConfig(join(folder, 'deep', 'down'))).toBeUndefined();
    await expect(readConfig(folder)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
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
    ['an error of its own', 'ts', 'throw new Error("out of order")', 'Error: out of order\n'],
    ['a slip', 'ts', 'export default {', 'config.ts:1'],
  ])('exits with 2 for %s and names the file', async (_, ending, text, told) => {
    const folder = await project({ [`batchling.config.${ending}`]: text });
    const { code, stdout, stderr } = await run(folder);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`error: Config file ${join(folder, `batchling.config.${ending}`)}: `);
    expect(stderr).toContain(told);
  });
});
