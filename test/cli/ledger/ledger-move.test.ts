import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import {
  startServer,
  type TestServer,
} from '../../../src/ledger/postgres/test/server.test-helper.ts';
import {
  type Asker,
  type AskInput,
  askToTheEnd,
  startAsker,
} from '../../support/processes/asker.ts';
import { runCommand, startCommand } from '../../support/processes/run-ledger-command.ts';
import { openStage, type Stage } from '../../support/stage.ts';
import { until } from '../../support/until.ts';

let stage: Stage;
let server: TestServer;
let databases = 0;

beforeAll(async () => {
  [stage, server] = await Promise.all([openStage(), startServer()]);
});
afterAll(() => Promise.all([stage.close(), server.remove()]));
beforeEach(() => stage.simulator.reset());

function newDatabase(): string {
  databases += 1;
  return `${server.url}?schema=moved_${databases}`;
}

function inputFor(store: string): AskInput {
  const baseURL = stage.simulator.baseUrl('openai');
  const options = { store, hosts: stage.hosts, window: 20, poll: 10, batchSize: 2 };
  return {
    sdk: 'openai',
    prompts: ['red', 'green', 'blue'],
    baseURL,
    apiKey: 'sk-test-key',
    options,
  };
}

/** A program that has sent its batches and waits. */
async function startWaiting(store: string): Promise<Asker> {
  stage.simulator.hold();
  const asker = await startAsker(inputFor(store));
  await until(() => stage.simulator.batches().length === 2, 'the batches');
  await until(() => stage.simulator.countRequests('GET', /batches/) > 0, 'a poll');
  return asker;
}

const hashOf = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');

it('a program goes on in the new store, and pays nothing again', async () => {
  const stores = [stage.newStore(), newDatabase(), stage.newStore()] as const;
  const asker = await startWaiting(stores[0]);
  const early = await runCommand(['move', stores[0], stores[1]]);
  expect(early.code).toBe(1);
  expect(early.stderr).toMatch(/process \d+ on .* works with it/);
  asker.send('SIGKILL');
  await asker.ended;

  const there = await runCommand(['move', stores[0], stores[1]]);
  expect(there).toMatchObject({ code: 0, stderr: '' });
  expect(there.stdout).toContain('Copied 2 batches (2 of them open), 3 requests and 0 answers');
  expect(there.stdout).not.toContain('hunter2');
  const full = await runCommand(['move', stores[0], stores[1]]);
  expect(full).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') });

  const back = await runCommand(['move', stores[1], stores[2], '--json']);
  expect(JSON.parse(back.stdout)).toEqual({
    from: expect.stringMatching(/^postgres:\/\/127\.0\.0\.1/),
    to: stores[2],
    ...{ batches: 2, open: 2, requests: 3, answers: 0 },
  });
  stage.simulator.release();
  for (const store of [stores[2], stores[1]]) {
    const { heard } = await askToTheEnd(inputFor(store));
    expect(heard.map(({ text }) => /"(\w+)"/.exec(text ?? '')?.[1])).toEqual([
      'red',
      'green',
      'blue',
    ]);
  }
  expect(stage.simulator.meter.total).toBe(3);
});

it.each([
  ['a file', () => stage.newStore()],
  ['a database', () => newDatabase()],
])('a move to %s that is killed changes nothing, and begins again', async (_, place) => {
  const from = stage.newStore();
  const ledger = await openLedger(from);
  const owner = await ledger.join({ run: 'run', host: 'here', pid: 1 });
  const queue = await ledger.queue({
    account: await ledger.account({ provider: 'openai', hash: new Uint8Array(32) }),
    provider: 'openai',
    base: '',
    endpoint: '',
    model: '',
    batchHeaders: {},
  });
  const asks = Array.from({ length: 30_000 }, (__, index) => {
    const fingerprint = new Uint8Array(createHash('sha256').update(String(index)).digest());
    return { fingerprint, occurrence: 0, queue, cache: true };
  });
  await ledger.admit(owner, asks);
  await ledger.close();
  const before = hashOf(from);

  const to = place();
  const moving = await startCommand(['move', from, to]);
  await expect.poll(() => isWritten(to)).toBe(true);
  moving.child.kill('SIGKILL');
  await moving.ended;
  expect(hashOf(from)).toBe(before);
  const again = await runCommand(['move', from, to, '--json']);
  expect(JSON.parse(again.stdout)).toMatchObject({ requests: 30_000 });
  expect(hashOf(from)).toBe(before);
});

/** Whether a move has begun to write requests there. */
async function isWritten(to: string): Promise<boolean> {
  if (!to.startsWith('postgres')) return existsSync(`${to}-journal`);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rowCount } = await client.query(
    "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'INSERT INTO request %'",
  );
  await client.end();
  return rowCount !== 0;
}

async function ledgerState(store: string): Promise<string> {
  const { stdout } = await runCommand(['ls', '--store', store]);
  return stdout.includes('There is no ledger') ? 'missing' : 'there';
}

it('says what is wrong with what it was told', async () => {
  const missing = await runCommand(['move', stage.newStore(), newDatabase()]);
  expect(missing).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no ledger at'),
  });
  const empty = newDatabase();
  const nothing = await runCommand(['move', empty, stage.newStore()]);
  expect(nothing).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no ledger at'),
  });
  expect(await ledgerState(empty)).toBe('missing');
  const store = stage.newStore();
  expect((await runCommand(['move', store, store])).code).toBe(2);
  expect((await runCommand(['move', store, ':memory:'])).code).toBe(2);
  expect((await runCommand(['move', store])).code).toBe(2);
});
