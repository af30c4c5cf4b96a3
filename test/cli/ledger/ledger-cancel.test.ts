import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AskInput, startAsker } from '../../support/processes/asker.ts';
import { compiledCli } from '../../support/processes/compiled.ts';
import { runCommand } from '../../support/processes/run-ledger-command.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { runCommand as runInTerminal } from '../../support/terminal/run-in-terminal.ts';
import { soon, until } from '../../support/until.ts';

const secret = 'sk-secret-of-the-test';

let stage: Stage;
let store: string;
beforeEach(async () => {
  stage = await openStage();
  store = stage.newStore();
});
afterEach(() => stage.close());

function input(): AskInput {
  const baseURL = stage.simulator.baseUrl('openai');
  const options = stage.options({ store });
  return { sdk: 'openai', prompts: ['red', 'green'], baseURL, apiKey: secret, options };
}

function command(...given: string[]) {
  return runCommand([...given, '--store', store], { OPENAI_API_KEY: secret });
}

async function newestId(): Promise<string> {
  return JSON.parse((await command('ls', '--json')).stdout).batches.at(-1).id;
}

it('cancels a batch that a living program waits for: its callers get 499', async () => {
  const { simulator } = stage;
  simulator.hold();
  const asker = await startAsker(input());
  await until(() => simulator.countRequests('GET', /batches/) > 0, 'a poll');
  const id = await newestId();
  const keyless = await runCommand(['cancel', id, '--store', store]);
  expect(keyless.code).toBe(1);
  expect(keyless.stdout).toContain('cannot be cancelled: set OPENAI_API_KEY to the key');
  const { code, stdout } = await command('cancel', id);
  expect(stdout).toMatch(/^bl_\w+ {2}is being cancelled at openai; process \d+ on \S+ is told\n$/);
  expect(code).toBe(0);
  simulator.release();
  const { output } = await soon(asker.ended);
  expect(output?.heard.map(({ status }) => status)).toEqual([499, 499]);
  const again = await command('cancel', id);
  expect(again.stdout).toContain('is over already');
  expect(again.code).toBe(0);
  expect(simulator.meter.total).toBe(0);
});

it('gives up a batch that was never sent, and all that a dead program has left', async () => {
  const { simulator } = stage;
  simulator.faults.add({ path: '/v1/files', action: { kind: 'hang', ms: 20_000 } });
  const asker = await startAsker(input());
  await until(() => simulator.countRequests('POST', '/v1/files') > 0, 'an upload');
  const id = await newestId();
  const owned = await command('cancel', id);
  expect(owned.code).toBe(1);
  expect(owned.stdout).toMatch(/is just being sent by process \d+/);
  asker.send('SIGKILL');
  await asker.ended;
  const { code, stdout } = await command('cancel', '--all', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ batches: [{ id, outcome: 'released' }] });
  expect((await command('ls', '--open')).stdout).toBe('No batch is open.\n');
  expect((await command('cancel')).code).toBe(2);
});

it('does not give up a batch that may be at the provider', async () => {
  const { simulator } = stage;
  simulator.faults.add({ path: '/v1/batches', action: { kind: 'hang', ms: 20_000 } });
  const asker = await startAsker(input());
  await until(() => simulator.countRequests('POST', '/v1/batches') > 0, 'a create');
  asker.send('SIGKILL');
  await asker.ended;
  const id = await newestId();
  const { code, stdout } = await command('cancel', id);
  expect(stdout).toContain('may be at the provider or not: `batchling collect` finds out');
  expect(code).toBe(1);
  const { batches } = JSON.parse((await command('ls', '--open', '--json')).stdout);
  expect(batches).toMatchObject([{ id, state: 'creating' }]);
});

it('asks at a terminal before it cancels all, and leaves them alone when told so', async () => {
  const { simulator } = stage;
  simulator.hold();
  const asker = await startAsker(input());
  await until(() => simulator.countRequests('GET', /batches/) > 0, 'a poll');
  const answer = async (typed: string) => {
    const words = [process.execPath, await compiledCli(), 'cancel', '--all', '--store', store];
    const line = words.map((word) => `'${word}'`).join(' ');
    const terminal = runInTerminal(line, 80, { OPENAI_API_KEY: secret });
    await until(() => terminal.written().includes('Cancel 1 batch? [y/N]'), 'the question');
    terminal.type(`${typed}\r`);
    expect((await soon(terminal.ended)).code).toBe(0);
  };
  const cancels = () => simulator.countRequests('POST', /cancel$/);
  await answer('n');
  expect(cancels()).toBe(0);
  await answer('y');
  expect(cancels()).toBe(1);
  simulator.release();
  await soon(asker.ended);
});

it('is followed by no promise of answers', async () => {
  const { simulator } = stage;
  simulator.hold();
  const asker = await startAsker(input());
  await until(() => simulator.countRequests('GET', /batches/) > 0, 'a poll');
  asker.send('SIGKILL');
  await asker.ended;
  await command('cancel', '--all', '--yes');
  simulator.release();
  await until(() => simulator.batches().every(({ phase }) => phase === 'ended'), 'the end');
  const { code, stdout } = await command('collect');
  expect(code).toBe(0);
  expect(stdout).toContain('2 requests ended without an answer: running the program again sends');
  expect(stdout).not.toContain('gets its answers');
});
