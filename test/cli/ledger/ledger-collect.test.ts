import { afterEach, expect, it } from 'vitest';
import type { SimulatorOptions } from '../../../src/simulator/index.ts';
import { type AskInput, askToTheEnd, startAsker } from '../../support/processes/asker.ts';
import { runCommand, startCommand } from '../../support/processes/run-ledger-command.ts';
import { wireOf } from '../../support/provider-wires.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

type Provider = 'openai' | 'anthropic';

const three = ['red', 'green', 'blue'];
const secret = 'sk-secret-of-the-test';
const variables = { openai: 'OPENAI_API_KEY', anthropic: 'ANTHROPIC_API_KEY' } as const;

let stage: Stage;
let store: string;
afterEach(() => stage.close());

async function open(options: SimulatorOptions = {}): Promise<void> {
  stage = await openStage(options);
  store = stage.newStore();
}

function input(sdk: Provider, options: AskInput['options'] = {}): AskInput {
  const baseURL = stage.simulator.baseUrl(sdk);
  const all = stage.options({ store, ...options });
  return { sdk, prompts: three, baseURL, apiKey: secret, options: all };
}

/** The program is killed when the provider has its batch, which is held there. */
async function killWhileUnderWay(provider: Provider, options: AskInput['options'] = {}) {
  const { simulator } = stage;
  simulator.hold();
  const { poll } = wireOf(provider);
  const polls = () => simulator.countRequests(poll.method, poll.path);
  const before = polls();
  const asker = await startAsker(input(provider, options));
  await until(() => polls() > before, 'a poll');
  asker.send('SIGKILL');
  await asker.ended;
}

function collect(provider: Provider, ...flags: string[]) {
  const environment = { [variables[provider]]: secret, BATCHLING_POLL: '10ms' };
  return runCommand(['collect', '--store', store, ...flags], environment);
}

async function ended(): Promise<void> {
  stage.simulator.release();
  const { simulator } = stage;
  await until(() => simulator.batches().every(({ phase }) => phase === 'ended'), 'the end');
}

function creates(provider: Provider): number {
  const { method, path } = wireOf(provider).create;
  return stage.simulator.countRequests(method, path);
}

/** The next run is answered from the ledger. */
async function expectKnown(provider: Provider): Promise<void> {
  const { heard } = await askToTheEnd(input(provider, { cache: false }));
  expect(heard.map(({ source }) => source)).toEqual(['ledger', 'ledger', 'ledger']);
  expect(heard.map(({ text }) => three.find((word) => text?.includes(word)))).toEqual(three);
  expect(creates(provider)).toBe(1);
  expect(stage.simulator.meter.total).toBe(3);
}

it('batches of a killed program are collected without it, and its next run has the answers', async () => {
  await open();
  // Not even with answers of finished runs unwanted is anything paid twice.
  await killWhileUnderWay('openai', { cache: false });
  const early = await collect('openai');
  expect(early.stdout).toMatch(/^bl_\w{16} .* under way: in_progress, 3 requests/);
  expect(early.stdout).toContain('1 batch is open: run `batchling collect --store ');
  expect(early.code).toBe(75);

  await ended();
  const done = await collect('openai');
  expect(done.stderr).toBe('');
  expect(done.stdout).toContain('3 of 3 requests answered');
  expect(done.stdout).toContain('No batch is open.');
  expect(done.code).toBe(0);
  expect((await collect('openai', '--json')).stdout).toBe('{"open":0,"obstacles":[]}\n');
  await expectKnown('openai');
});

it('batches of a provider that echoes nothing are collected, too', async () => {
  await open();
  await killWhileUnderWay('anthropic', { cache: false });
  await ended();
  expect((await collect('anthropic')).stdout).toContain('3 of 3 requests answered');
  await expectKnown('anthropic');
});

it('an error is not counted as answered', async () => {
  await open({ answer: ({ prompt }) => (prompt.includes('red') ? { status: 400 } : undefined) });
  await killWhileUnderWay('openai');
  await ended();
  const { stdout, code } = await collect('openai');
  expect(stdout).toContain('2 of 3 requests answered, 1 with an error\n');
  expect(code).toBe(0);
});

it('a key of another account is never sent, and nothing of it is printed', async () => {
  await open();
  await killWhileUnderWay('openai');
  const { simulator } = stage;
  const before = simulator.requests.length;
  const other = 'sk-other-secret';
  const environment = { OPENAI_API_KEY: other, OPENAI_PROJECT_ID: 'proj_1' };
  const told = await runCommand(['collect', '--store', store], environment);
  expect(told.code).toBe(1);
  expect(told.stdout).toMatch(
    /no credential for the account of 1 batch \(openai: bl_\w{16}\): set OPENAI_API_KEY/,
  );
  expect(told.stdout).toContain('OPENAI_API_KEY holds the key of another account');
  expect(`${told.stdout}${told.stderr}`).not.toContain(other);
  expect(simulator.requests.length).toBe(before);

  const named = { ...environment, TEAM_KEY: secret };
  const flags = ['collect', '--store', store, '--credential', 'openai=TEAM_KEY'];
  expect((await runCommand(flags, named)).stdout).toContain('under way');

  const wrong = await runCommand(['collect', '--store', store, '--credential', `openai=${secret}`]);
  expect(wrong.code).toBe(2);
  expect(`${wrong.stdout}${wrong.stderr}`).not.toContain(secret);
});

it('a batch that was never sent is left to the next run, which sends it once', async () => {
  await open();
  const { simulator } = stage;
  simulator.faults.add({ path: '/v1/files', action: { kind: 'hang', ms: 20_000 } });
  const asker = await startAsker(input('openai'));
  await until(() => simulator.countRequests('POST', '/v1/files') > 0, 'an upload');
  simulator.faults.clear();
  asker.send('SIGKILL');
  await asker.ended;
  const done = await collect('openai');
  expect(done.stdout).toContain('was never sent, 3 requests left to the next run');
  expect(done.code).toBe(0);
  expect(creates('openai')).toBe(0);
  const { heard } = await askToTheEnd(input('openai'));
  expect(heard.map(({ source }) => source)).toEqual(['batch', 'batch', 'batch']);
  expect(stage.simulator.meter.total).toBe(3);
});

it('a create of unclear outcome is found', async () => {
  await open();
  const { simulator } = stage;
  simulator.faults.add({
    path: '/v1/batches',
    method: 'POST',
    action: { kind: 'delay', ms: 20_000 },
  });
  const asker = await startAsker(input('openai'));
  await until(() => simulator.batches().length > 0, 'the batch');
  asker.send('SIGKILL');
  await asker.ended;
  simulator.faults.clear();
  await ended();
  const done = await collect('openai');
  expect(done.stdout).toContain('3 of 3 requests answered');
  expect(done.code).toBe(0);
  expect(creates('openai')).toBe(1);
  expect(simulator.meter.total).toBe(3);
});

it('an expired batch leaves its requests to the next run', async () => {
  await open();
  stage.simulator.faults.nextBatch({ outcome: 'expired' });
  await killWhileUnderWay('openai');
  await ended();
  const done = await collect('openai');
  expect(done.stdout).toContain('left to the next run');
  expect(done.code).toBe(0);
});

it('--watch goes on until all is collected, and Ctrl-C ends it tidily', async () => {
  await open();
  await killWhileUnderWay('openai');
  const { simulator } = stage;
  const environment = { OPENAI_API_KEY: secret, BATCHLING_POLL: '10ms' };
  const given = ['collect', '--watch', '--store', store];
  const first = await startCommand(given, environment);
  const polls = simulator.countRequests('GET', /batches/);
  await until(() => simulator.countRequests('GET', /batches/) > polls + 2, 'polls');
  first.child.kill('SIGINT');
  const stopped = await first.ended;
  expect(stopped.code).toBe(130);
  expect(stopped.stdout).toContain('1 batch is open');

  const second = await startCommand(given, environment);
  await ended();
  const done = await second.ended;
  expect(done.stdout).toContain('3 of 3 requests answered');
  expect(done.code).toBe(0);
});

it('a batch whose key is missing is a failure, also beside one that is fine', async () => {
  await open();
  await killWhileUnderWay('openai');
  await killWhileUnderWay('anthropic');
  const told = await collect('openai');
  expect(told.code).toBe(1);
  expect(told.stdout).toMatch(/openai .* under way: in_progress/);
  expect(told.stdout).toMatch(/\(anthropic: bl_\w{16}\): set ANTHROPIC_API_KEY/);
  await ended();
  expect((await collect('openai', '--watch')).code).toBe(1);
  expect((await collect('anthropic')).code).toBe(0);
});

it('a key that the provider refuses is a failure', async () => {
  await open();
  await killWhileUnderWay('openai');
  const refused = { kind: 'status', status: 401 } as const;
  stage.simulator.faults.add({ path: /batches/, times: 1_000, action: refused });
  const told = await collect('openai');
  expect(told.code).toBe(1);
  expect(told.stderr).toContain('refuses the API key (401)');
});
