import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli, variablesOf, writeFiles } from '../support/processes/run-cli.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let folder: string;
beforeAll(async () => {
  stage = await openStage();
  folder = join(stage.folder, 'jobs');
  await writeFiles(folder, {
    'jobs.ts': `
      enum Kind { Job = 'job' }
      export const kind = Kind.Job;
      export async function show(...given: unknown[]) { return given; }`,
    'jobs.mjs': `
      export const nothing = () => undefined;
      export const fails = async () => { throw new TypeError('no luck'); };
      export const exits = () => { process.exitCode = 7; return process.argv.slice(1); };
      export default async function ask(content) {
        const response = await fetch(process.env.BASE + '/chat/completions', {
          method: 'POST',
          headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
        });
        return (await response.json()).choices[0].message.content;
      }`,
    'old.cjs': 'module.exports = { hello: (name) => "hello " + name };',
    'old-ts/package.json': '{ "type": "commonjs" }',
    'old-ts/main.ts': 'export default () => "old";',
    'odd:name.mjs': 'console.log("a colon in the name");',
  });
});
afterAll(() => stage.close());

const call = (...given: string[]) => runCli(['run', ...given], { folder });

it.each([
  ['nothing for undefined', ['jobs.mjs:nothing'], ''],
  ['an export of a CommonJS module', ['old.cjs:hello', 'you'], 'hello you\n'],
  ['the default export of TypeScript in a CommonJS package', ['old-ts/main.ts:default'], 'old\n'],
  ['a file with a colon in its name', ['odd:name.mjs'], 'a colon in the name\n'],
])('prints %s', async (_, given, stdout) => {
  expect(await call(...given)).toEqual({ code: 0, stdout, stderr: '' });
});

it('calls the function with texts and one object of options', async () => {
  const given = ['a', '--max-items', '5', '--deep', '--tag=x', '--tag', 'y', '-1', '--', '--raw'];
  const { stdout } = await call('jobs.ts:show', ...given);
  const options = { maxItems: '5', deep: true, tag: ['x', 'y'] };
  expect(stdout).toBe(`${JSON.stringify(['a', '-1', '--raw', options], null, 2)}\n`);
});

it('batches the calls of the default export', async () => {
  const environment = { ...variablesOf(stage), BASE: stage.simulator.baseUrl('openai') };
  const { code, stdout } = await runCli(['run', 'jobs.mjs:default', 'ping'], {
    folder,
    environment,
  });
  expect(code).toBe(0);
  expect(stdout).toContain('answer to "ping"');
  expect(stage.simulator.meter).toMatchObject({ batched: 1, realtime: 0 });
});

it("ends with the function's error", async () => {
  const failed = await call('jobs.mjs:fails');
  expect(failed).toMatchObject({ code: 1, stdout: '' });
  expect(failed.stderr).toContain('TypeError: no luck');
});

it('shows the file its own command line, and ends with the exit code that it sets', async () => {
  const { code, stdout } = await call('jobs.mjs:exits', 'a', '--b');
  expect(code).toBe(7);
  expect(JSON.parse(stdout)).toEqual([join(folder, 'jobs.mjs'), 'a', '--b']);
});

it.each([
  ['lists the functions', 'jobs.mjs:absent', 'it exports default, exits, fails, nothing'],
  ['misses the file first', 'gone.ts:main', 'there is no file gone.ts'],
])('%s when there is no such export', async (_, given, told) => {
  const { code, stdout, stderr } = await call(given);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^error: /);
  expect(stderr).toContain(told);
});
