import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { DoneSummary } from '../../../src/cli/done/done-summary.ts';
import { startGateway } from '../../gateway/start-gateway.ts';
import { runCli, startCli, variablesOf, writeFiles } from '../../support/processes/run-cli.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

const asking = fileURLToPath(
  new URL('../../support/programs/launched/registered.mjs', import.meta.url),
);
/** Writes down what it is told, and says something on its stdout. */
const save = 'cat > told.json; env | grep ^BATCHLING_DONE_ | sort > variables.txt; echo said';

let stage: Stage;
let folder: string;
let url: string;
beforeAll(async () => {
  stage = await openStage();
  url = `${stage.simulator.baseUrl('openai')}/chat/completions`;
});
afterAll(() => stage.close());
afterEach(() => stage.simulator.release());

let number = 0;
beforeEach(async () => {
  number += 1;
  folder = join(stage.folder, `on-done ${number}`);
  await writeFiles(folder, {
    'fails.mjs': 'process.exitCode = 3;',
    'rows.csv': 'text\nred\nblue\n',
  });
});

const told = async () => JSON.parse(await readFile(join(folder, 'told.json'), 'utf8'));
const isTold = () =>
  readFile(join(folder, 'told.json')).then(
    () => true,
    () => false,
  );
const variables = () => readFile(join(folder, 'variables.txt'), 'utf8');
const cli = (given: string[], environment: Record<string, string> = {}) =>
  runCli(given, { folder, environment: { ...variablesOf(stage), ...environment } });

it('run tells its command what was done, and leaves stdout to the program', async () => {
  const secret = 'sk-of-nobody';
  const given = ['run', '--on-done', save, asking, url, '2', secret];
  const { code, stdout, stderr } = await cli(given);
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'said\n' });
  expect(stdout).toMatch(/^(batch: answer to .*\n){2}$/);
  expect(await told()).toMatchObject({
    ...{ command: 'run', name: 'registered.mjs', outcome: 'done', exitCode: 0 },
    text: expect.stringMatching(/^registered\.mjs: 2 calls answered, 1 batch/),
    stats: { captured: 2, answered: 2 },
    milliseconds: expect.any(Number),
  });
  expect(await variables()).toMatch(
    /^BATCHLING_DONE_EXIT_CODE=0\nBATCHLING_DONE_OUTCOME=done\nBATCHLING_DONE_TEXT=registered\.mjs: 2 calls/,
  );
  expect(JSON.stringify(await told())).not.toContain(secret);
});

it('a run that fails is told as failed, with its exit code', async () => {
  const { code } = await cli(['exec', '--on-done', save, '--', process.execPath, 'fails.mjs']);
  expect(code).toBe(3);
  expect(await told()).toMatchObject({ command: 'exec', outcome: 'failed', exitCode: 3 });
});

it.each(['--no-gateway', '--gateway'])(
  'the command has the variables of the shell: exec %s',
  async (flag) => {
    const given = [flag, '--window', '1s', '--on-done', 'env > environment.txt'];
    await cli(['exec', ...given, '--', process.execPath, '-e', '']);
    const environment = await readFile(join(folder, 'environment.txt'), 'utf8');
    expect(environment).toContain('BATCHLING_WINDOW=50ms');
    expect(environment).not.toMatch(/^BATCHLING_(RUN|REPORT|GATEWAY)=/m);
  },
);

it.each([
  ['exit 9', 'exit code 9'],
  ['no-such-command-here', 'exit code 127'],
  ['kill -9 $$', 'SIGKILL'],
])('a command that fails (%s) is reported and changes nothing', async (command, said) => {
  const { code, stderr } = await cli(['run', '--on-done', command, asking, url, '1']);
  expect(code).toBe(0);
  expect(stderr).toContain(`batchling: --on-done: the command ended with ${said}`);
});

it('a run with work under way is not done, and the collect that gets its answers tells', async () => {
  const environment = { ...variablesOf(stage), OPENAI_API_KEY: 'sk-registered' };
  stage.simulator.hold();
  const detached = await cli(['run', '--detach', '--on-done', save, asking, url, '2'], environment);
  expect(detached.code).toBe(75);
  const early = await cli(['collect', '--on-done', save], environment);
  expect(early.code).toBe(75);
  expect(await isTold()).toBe(false);
  stage.simulator.release();
  const { code } = await cli(['collect', '--watch', '--on-done', save], environment);
  expect(code).toBe(0);
  const collected = { batches: 1, unanswered: 0 };
  expect(await told()).toMatchObject({ command: 'collect', outcome: 'done', collected });
});

it('a run that somebody ends is not told', async () => {
  await writeFiles(folder, { 'waits.mjs': 'console.log("up"); setInterval(() => {}, 1_000);' });
  const given = ['exec', '--on-done', save, '--', process.execPath, 'waits.mjs'];
  const cli = await startCli(given, { folder, environment: variablesOf(stage) });
  await until(() => cli.stdout().includes('up'), 'the program');
  cli.process.kill('SIGTERM');
  expect((await cli.ended).code).toBe(143);
  expect(await isTold()).toBe(false);
});

it.each([
  ['ntfy.sh', 'sh', 'NTFY_URL', '/topic', 'registered.mjs: 1 call answered'],
  [
    'slack.mjs',
    process.execPath,
    'SLACK_WEBHOOK_URL',
    '',
    '{"text":"✅ registered.mjs: 1 call answered',
  ],
])('examples/notify/%s posts the text', async (file, program, variable, path, text) => {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    heard.push(`${request.url} ${await textOf(request)}`);
    response.end('ok');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const script = fileURLToPath(new URL(`../../../examples/notify/${file}`, import.meta.url));
  const { code, stderr } = await cli(
    ['run', '--on-done', `"${program}" "${script}"`, asking, url, '1'],
    { [variable]: `http://127.0.0.1:${port}`, NTFY_TOPIC: 'topic' },
  );
  server.close();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(heard).toEqual([expect.stringContaining(`${path} ${text}`)]);
});

it('map tells how many lines have their answers', async () => {
  const base = stage.simulator.baseUrl('openai');
  const given = ['--to', base, '--model', 'openai/gpt-5-mini', '--prompt', '{{text}}'];
  given.push('--poll', '7ms', '--budget', '5');
  const command = `${save} $BATCHLING_POLL $BATCHLING_BUDGET.`;
  const { code, stderr } = await cli(
    ['map', 'rows.csv', '-o', 'out.jsonl', ...given, '--on-done', command],
    { OPENAI_API_KEY: 'sk-test', BATCHLING_POLL: '9ms' },
  );
  // The command has the variables of the shell, whatever flags say.
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'said 9ms .\n' });
  expect(await told()).toMatchObject({
    ...{ command: 'map', name: 'rows.csv', outcome: 'done', lines: { done: 2, failed: 0 } },
  });
});

it('a gateway tells when no call waits any more, of what was done since', async () => {
  const path = join(folder, 'told.ndjson');
  const gateway = await startGateway(stage, {
    flags: ['--idle', '50ms', '--on-done', `cat >> '${path}'`],
  });
  const lines = () =>
    readFile(path, 'utf8').then(
      (text) => text.trim().split('\n'),
      () => [],
    );
  const answered = async () => {
    const summaries = (await lines()).map((line) => JSON.parse(line) as DoneSummary);
    return summaries.map(({ stats }) => stats?.answered ?? 0).reduce((sum, one) => sum + one, 0);
  };
  await (await gateway.ask('one')).text();
  await expect.poll(answered).toBe(1);
  await (await gateway.ask('two')).text();
  await (await gateway.ask('three')).text();
  await expect.poll(answered).toBe(3);
  expect(JSON.parse((await lines())[0] as string)).toMatchObject({ command: 'serve' });
  await gateway.kill();
});
