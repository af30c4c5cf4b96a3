import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { startServer, type TestServer } from '../../src/ledger/postgres/test/server.test-helper.ts';
import { inLanes } from '../support/lanes.ts';
import { type Asker, type AskInput, startAsker } from '../support/processes/asker.ts';
import { type Relay, startRelay, viaRelay } from '../support/servers/relay.ts';
import { until } from '../support/until.ts';
import { playHistory } from './parts/history.ts';
import { plotNamed } from './parts/plots.ts';
import { openScene, type Provider, type Scene } from './parts/scene.ts';
import { addVerdict, judge, noVerdict, type Verdict } from './parts/verdict.ts';

const fine = { billedTwice: 0, lost: 0, wrong: 0, complaints: [] };
const three = ['red', 'green', 'blue'];
const hour = 3_600_000;

let server: TestServer;
let scene: Scene;
let schemas = 0;
const askers: Asker[] = [];
const relays: Relay[] = [];

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.remove());
afterEach(async () => {
  for (const asker of askers.splice(0)) asker.send('SIGKILL');
  await scene?.close();
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
});

/** The lease is long enough for a busy machine, and short enough to wait for its end. */
async function newDatabase(): Promise<string> {
  schemas += 1;
  const store = `${server.url}?schema=crash_${schemas}`;
  // A statement may last for half of a lease, which is not enough to make a schema.
  await (await openLedger(store)).close();
  return `${store}&lease=1500ms`;
}

async function open(provider: Provider = 'openai'): Promise<Scene> {
  scene = await openScene(provider, {}, {}, undefined, await newDatabase());
  return scene;
}

async function relayTo(store: string): Promise<{ relay: Relay; store: string }> {
  const relay = await startRelay(Number(new URL(store).port));
  relays.push(relay);
  return { relay, store: viaRelay(store, relay) };
}

/** A program on a machine of its own. */
async function start(host: string, given: Partial<AskInput> = {}): Promise<Asker> {
  const asker = await startAsker({ ...scene.input(three, given), host });
  askers.push(asker);
  return asker;
}

const own = () => scene.simulator.batches().filter(({ foreign }) => !foreign);
const texts = async (asker: Asker) => (await asker.ended).output?.heard.map(({ text }) => text);
const polled = () => scene.simulator.countRequests('GET', /batches/) > 0;

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

async function expectFine(...ended: Asker[]): Promise<void> {
  const [first, ...others] = ended as [Asker, ...Asker[]];
  const { output } = await first.ended;
  expect(await judge(scene.simulator, three, output?.heard ?? [])).toEqual(fine);
  for (const other of others) expect(await texts(other)).toEqual(await texts(first));
}

describe('a ledger in PostgreSQL, shared by machines', () => {
  it.each(['openai', 'anthropic'] as const)(
    'ends well for a program that is killed around its commits: %s',
    async (provider) => {
      const plot = { ...plotNamed(provider, 'a crowded account'), database: newDatabase };
      const plans = [
        { when: 'before', commits: [4] },
        { when: 'after', commits: [8] },
      ] as const;
      const histories = await inLanes(plans, plans.length, ({ when, commits }) =>
        playHistory(
          plot,
          commits.map((commit) => ({ commit, when })),
        ),
      );
      const verdict = histories.reduce<Verdict>(addVerdict, noVerdict());
      expect(verdict).toMatchObject({ ...fine, kills: 2 });
    },
  );

  it('gives the batch of a machine that sleeps longer than its lease to another one; it goes on when it wakes', async () => {
    await open();
    scene.simulator.hold();
    const sleeper = await start('sleeps');
    await until(() => own().length === 1 && polled(), 'the batch');
    sleeper.send('SIGSTOP');
    const other = await start('awake');
    scene.simulator.release();
    await other.ended;
    sleeper.send('SIGCONT');
    await expectFine(other, sleeper);
    const schema = new URL(scene.store).searchParams.get('schema');
    const hosts = await query(`SELECT DISTINCT host FROM ${schema}.owner ORDER BY host`);
    expect(hosts.map(({ host }) => host)).toEqual(['awake', 'sleeps']);
    expect(hostname()).not.toBe('sleeps');
  });

  it.each([
    { stops: 'at-mark', creates: 1, cancels: 0 },
    // The one thing that is left: what is sent a second time is found and cancelled. See docs/ledger.md.
    { stops: 'before-create', creates: 2, cancels: 1 },
  ] as const)(
    'has a machine that is frozen for longer than its lease create nothing that stays: $stops',
    async ({ stops, creates, cancels }) => {
      await open();
      const { simulator } = scene;
      const frozen = await start('frozen', { stops });
      await until(() => simulator.countRequests('POST', '/v1/files') === 1, 'the upload');
      simulator.hold();
      const other = await start('awake');
      await until(() => own().length === 1 && polled(), 'the batch');
      frozen.send('SIGCONT');
      await until(() => simulator.countRequests('POST', /cancel$/) === cancels, 'the cancel');
      simulator.release();
      await expectFine(other, frozen);
      expect(simulator.countRequests('POST', /batches$/)).toBe(creates);
    },
  );

  it('outlasts a network that breaks again and again between a program and the server', async () => {
    const { store } = await open();
    const way = await relayTo(store);
    const asker = await start('far', { options: { store: way.store } });
    let ended = false;
    const noteEnd = () => {
      ended = true;
    };
    asker.ended.then(noteEnd, noteEnd);
    for (let round = 0; round < 8 && !ended; round += 1) {
      await sleep(120);
      way.relay.cut();
      await sleep(60);
      way.relay.heal();
    }
    await expectFine(asker);
  });

  it('gives the batch of a machine that lost its network to another one; nobody is told twice', async () => {
    const { store } = await open();
    scene.simulator.hold();
    const way = await relayTo(store);
    const far = await start('far', { options: { store: way.store } });
    await until(() => own().length === 1 && polled(), 'the batch');
    way.relay.freeze();
    const near = await start('near');
    scene.simulator.release();
    await near.ended;
    way.relay.heal();
    await expectFine(near, far);
  });

  it('outlasts a restart of the server', async () => {
    await open('anthropic');
    scene.simulator.hold();
    const [one, other] = [await start('one'), await start('other')];
    await until(() => own().length === 1 && polled(), 'the batch');
    await server.stop();
    scene.simulator.release();
    await server.start();
    await expectFine(one, other);
  });

  it('does not care for clocks that are off by an hour', async () => {
    await open();
    const { time } = scene.input([]);
    const off = (offset: number) => ({ time: { ...(time as NonNullable<typeof time>), offset } });
    scene.simulator.hold();
    const late = await start('late', off(-hour));
    await until(() => own().length === 1 && polled(), 'the batch');
    const early = await start('early', off(hour));
    late.send('SIGKILL');
    scene.simulator.release();
    await early.ended;
    await expectFine(early, await start('late', off(-hour)));
  });
});
