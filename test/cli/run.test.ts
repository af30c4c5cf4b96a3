import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CliOptions, runCli, variablesOf, writeFiles } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

const asking = fileURLToPath(
  new URL('../support/programs/launched/registered.mjs', import.meta.url),
);

let stage: Stage;
let folder: string;
beforeAll(async () => {
  stage = await openStage();
  // Every path has a space.
  folder = join(stage.folder, 'my project');
  await writeFiles(folder, programs);
});
afterAll(() => stage.close());
beforeEach(() => stage.simulator.reset());

const run = (given: string[], options: CliOptions = {}) =>
  runCli(['run', ...given], { folder, ...options });

const programs = {
  'package.json': '{ "type": "module" }',
  'tsconfig.json': '{ "compilerOptions": { "paths": { "@lib/*": ["./lib/*"] } } }',
  'lib/color.ts': 'export enum Color { Red = "red", Blue = "blue" }',
  'lib/name.ts': 'export const name = (text: string): string => "my " + text;',
  'modern.ts': `
    import { createRequire } from 'node:module';
    import { Color } from '@lib/color';
    import { name } from './lib/name.js';
    class Box { constructor(readonly inside: string) {} }
    const { old } = createRequire(import.meta.url)('./old/part.cts') as { old: string };
    const box = new Box(await Promise.resolve(name('box')));
    console.log(Color.Blue, box.inside, old);`,
  'old/part.cts': 'const old: string = "old"; module.exports = { old };',
  'old/package.json': '{ "type": "commonjs" }',
  'old/main.ts': `
    import { basename } from 'node:path';
    const part: { old: string } = require('./part.cts');
    console.log(part.old, basename(__filename), require.main === module);`,
  'plain.cjs': 'console.log(typeof require, process.argv[1] === __filename);',
  'plain.mjs': 'console.log(await 1, import.meta.url.endsWith("plain.mjs"));',
  'own.js': `
    console.log(JSON.stringify(process.argv.slice(2)));
    for await (const part of process.stdin) process.stdout.write('<' + part + '>');
    process.exitCode = 7;`,
  'variables.js': `
    const given = Object.entries(process.env).filter(([name]) => name.startsWith('BATCHLING_'));
    console.log(JSON.stringify(Object.fromEntries(given)));`,
  'slip.ts': 'const = 1;',
  'old/waits.ts': 'const one: number = await Promise.resolve(1); export const main = () => one;',
  'throws.ts': '\n\nthrow new Error("out of order");',
  'ask.ts': `
    import { OpenAI } from '${import.meta.resolve('openai')}';
    const openai = new OpenAI({ apiKey: 'sk-test', baseURL: process.env.BASE! });
    const { choices } = await openai.chat.completions.create({
      model: 'm', messages: [{ role: 'user', content: 'ping' }],
    });
    console.log(choices[0]?.message.content);`,
  'ask.py': 'print(1)',
  'transport.mjs': `
    import { request } from '${import.meta.resolve('undici')}';
    const { statusCode, body } = await request(process.env.BASE + '/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-test' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'ping' }] }),
    });
    await body.text();
    console.log(statusCode);`,
  'exits.mjs': `
    const { status } = await fetch(process.env.BASE + '/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-test' },
      body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'ping' }] }),
    });
    console.log(status);
    process.exit(0);`,
};

describe('batchling run', () => {
  it.each([
    ['TypeScript with enums, aliases and top-level await', 'modern.ts', 'blue my box old\n'],
    ['TypeScript in a CommonJS package', 'old/main.ts', 'old main.ts true\n'],
    ['a CommonJS file', 'plain.cjs', 'function true\n'],
    ['an ES module', 'plain.mjs', '1 true\n'],
  ])('runs %s', async (_, file, stdout) => {
    expect(await run([file])).toEqual({ code: 0, stdout, stderr: '' });
  });

  it('batches the calls of a program that knows nothing of it', async () => {
    const environment = variablesOf(stage);
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const { code, stdout, stderr } = await run([asking, url, '2'], { environment });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^(batch: answer to "registered".*\n){2}$/);
    expect(stage.simulator.meter).toMatchObject({ batched: 2, realtime: 0 });
  });

  it('tells the first use of a ledger, and no later one', async () => {
    const environment = { ...variablesOf(stage), BATCHLING_DISPLAY: 'plain' };
    const url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
    const first = await run(['--store', 'new.db', asking, url, '1'], { environment });
    expect(first.stderr).toMatch(/first use: answers are kept for 30d in .*new\.db/);
    const later = await run(['--store', 'new.db', asking, url, '1'], { environment });
    expect(later.stderr).not.toContain('first use');
  });

  it('batches the calls of an SDK in TypeScript, by flags alone', async () => {
    const base = stage.simulator.baseUrl('openai');
    const flags = ['--hosts', `${base}=openai`, '--store', 'ledger.db', '--window=50ms'];
    const { code, stdout, stderr } = await run([...flags, '--poll', '10ms', 'ask.ts'], {
      environment: { BASE: base },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('answer to "ping"');
    expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
  });

  it('leaves what stands after the file, stdin and the exit code to the program', async () => {
    const given = ['a b', '--window', 'soon', '--help', '--', '-x', ''];
    const flags = ['--no-cache', '--window', '1s'];
    const all = [...flags, 'own.js', '--', ...given];
    const { code, stdout, stderr } = await run(all, { input: 'piped' });
    expect({ code, stderr }).toEqual({ code: 7, stderr: '' });
    expect(stdout).toBe(`${JSON.stringify(given)}\n<piped>`);
    // Without it, and a later -- is the program's.
    const plain = ['a', '--verbose', '--', '--window', '1s'];
    expect((await run(['own.js', ...plain])).stdout).toBe(`${JSON.stringify(plain)}\n`);
  });

  it.each([
    [['--dry-run=deep'], '--dry-run=deep'],
    [['in.csv', '--budget', '5'], '--budget 5'],
    [['--no-cache', '--', 'x'], '--no-cache'],
    [['--require-batched'], '--require-batched'],
  ])('refuses %j after the file: the program would get it, and pay', async (given, flag) => {
    const { code, stdout, stderr } = await run(['own.js', ...given]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      `error: ${flag} stands after the file, where it does not count. Write it before the file: batchling run ${flag} own.js\n` +
        `If it is a flag of the program's own: batchling run own.js -- ${given.join(' ')}\n`,
    );
  });

  it('refuses a file that Node does not run, and points to the gateway', async () => {
    const { code, stdout, stderr } = await run(['--window', '1s', 'ask.py']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(
      /^error: ask\.py is not a JavaScript or TypeScript file.* batchling serve/,
    );
  });

  it('says at the end that nothing was captured, and why that may be', async () => {
    const environment = { BATCHLING_DISPLAY: 'plain' };
    const { code, stderr } = await run(['own.js'], { environment });
    expect(code).toBe(7);
    expect(stderr).toMatch(
      /^batchling: no LLM call was captured.*spawn\(\).*batchling exec --gateway.*\n$/,
    );
    const json = await run(['own.js'], { environment: { BATCHLING_DISPLAY: 'json' } });
    expect(JSON.parse(json.stderr)).toMatchObject({ event: 'summary', stats: { captured: 0 } });
  });

  it('fails with --require-batched where a call is not batched, which is not sent', async () => {
    const environment = { BATCHLING_DISPLAY: 'plain', NODE_NO_WARNINGS: '1' };
    const asked = { ...environment, BASE: stage.simulator.baseUrl('openai') };
    const given = ['--require-batched', '--store', 'required.db', 'exits.mjs'];
    const { code, stdout, stderr } = await run(given, { environment: asked });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '400\n' });
    expect(stderr).toMatch(/bypassed +1 held back: no option names its host/);
    expect(stderr).toMatch(
      /--require-batched: the run has failed, because 1 LLM call was not batched/,
    );
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 0 });
  });

  it('fails with --require-batched for a call that could not be held back', async () => {
    const environment = { ...variablesOf(stage), BASE: stage.simulator.baseUrl('openai') };
    const { code, stdout, stderr } = await run(['--require-batched', 'transport.mjs'], {
      environment: { ...environment, BATCHLING_DISPLAY: 'plain' },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '200\n' });
    expect(stderr).toMatch(/bypassed +1 at full price: its client was made before/);
    expect(stderr).toContain('because 1 LLM call was not batched');
  });

  it('tells of an only that matches nothing although the program ends itself', async () => {
    const { code, stderr } = await run(['--only', 'openai:gpt5*', 'exits.mjs'], {
      environment: { ...variablesOf(stage), BASE: stage.simulator.baseUrl('openai') },
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^batchling: The option only names "openai:gpt5\*", which matched no call/,
    );
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
    const dry = await run(
      ['--dry-run', '--only', 'openai:gpt5*', '--require-batched', 'exits.mjs'],
      {
        environment: {
          ...{ ...variablesOf(stage), BASE: stage.simulator.baseUrl('openai') },
          BATCHLING_DISPLAY: 'plain',
        },
      },
    );
    expect(dry.code).toBe(1);
    expect(dry.stderr).toContain('1 call left out by `only`, at full price');
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });

  it('sums up a program none of whose calls can be batched', async () => {
    const base = stage.simulator.baseUrl('openai');
    const { code, stderr } = await run(['--store', 'bypassed.db', 'ask.ts'], {
      environment: { BASE: base, BATCHLING_DISPLAY: 'plain', NODE_NO_WARNINGS: '1' },
    });
    expect(code).toBe(0);
    expect(stderr).toMatch(/bypassed +1 at full price: no option names its host/);
    expect(stage.simulator.meter).toMatchObject({ batched: 0, realtime: 1 });
  });

  it('gives flags to the program as variables, the store as a full path', async () => {
    const flags = ['--batch-size', '5', '--no-cache', '--cleanup=no', '--store', 'here.db'];
    const { stdout } = await run([...flags, '--detach', 'variables.js'], {
      environment: { BATCHLING_BATCH_SIZE: '9', BATCHLING_ATTEMPTS: '2' },
    });
    expect(JSON.parse(stdout)).toMatchObject({
      BATCHLING_BATCH_SIZE: '5',
      BATCHLING_ATTEMPTS: '2',
      BATCHLING_CACHE: 'false',
      BATCHLING_CLEANUP: 'no',
      BATCHLING_STORE: join(folder, 'here.db'),
      BATCHLING_DETACH: 'true',
      BATCHLING_RUN: expect.stringMatching(/^[\w-]+$/),
    });
  });

  it.each([
    ['a syntax error in TypeScript', 'slip.ts', 'slip.ts:1'],
    ['an error', 'throws.ts', 'throws.ts:3'],
  ])("leaves %s to Node's own report", async (_, file, told) => {
    const { code, stdout, stderr } = await run([file]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(told);
    expect(stderr).not.toContain('batchling:');
  });

  it.each(['old/waits.ts', 'old/waits.ts:main'])(
    'says what to do about %s, which waits at its top level in a CommonJS package',
    async (file) => {
      const { code, stdout, stderr } = await run([file]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain('rename the file to waits.mts, or write "type": "module"');
    },
  );
});

describe('batchling run, called wrongly', () => {
  it.each([
    ['a missing file', ['mdoern.ts'], 'error: there is no file mdoern.ts\n'],
    ['no file', [], "error: missing required argument 'file'"],
    ['an unknown flag', ['--windwo', '1s', 'own.js'], '(Did you mean --window?)'],
    ['a bad value', ['--window', 'soon', 'own.js'], 'error: --window: it cannot be "soon"'],
    ['a missing value', ['--window'], "error: option '--window <duration>' argument missing"],
  ])('exits with 2 for %s', async (_, given, told) => {
    const { code, stdout, stderr } = await run(given);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(told);
  });

  it('exits with 2 for a bad variable', async () => {
    const environment = { BATCHLING_ATTEMPTS: 'many' };
    const { code, stdout, stderr } = await run(['own.js'], { environment });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: Invalid .*BATCHLING_ATTEMPTS/);
  });
});
