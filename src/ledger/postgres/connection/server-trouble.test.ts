import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Bench, good, openBench } from '../../conformance/subject.test-helper.ts';
import type { Ledger } from '../../ledger.ts';
import { startServer, type TestServer } from '../test/server.test-helper.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from './open-postgres.ts';

let server: TestServer;
let ledgers: Ledger[] = [];
let proxies: Server[] = [];
let schemas = 0;

beforeAll(async () => {
  // Nothing but commits that wait for it brings anything to the disk meanwhile.
  server = await startServer(['wal_writer_delay=10s']);
});
afterAll(() => server.remove());
afterEach(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  for (const proxy of proxies) proxy.close();
  [ledgers, proxies] = [[], []];
});

function storeAt(change: (url: URL) => void = () => {}): string {
  schemas += 1;
  const url = new URL(server.url);
  url.searchParams.set('schema', `trouble_${schemas}`);
  change(url);
  return url.href;
}

async function open(options: Partial<PostgresLedgerOptions> = {}): Promise<Ledger> {
  const ledger = await openPostgresLedger({ store: storeAt(), ...options });
  ledgers.push(ledger);
  return ledger;
}

function bench(ledger: Ledger): Promise<Bench> {
  return openBench({ name: '', open: async () => ledger, kill: { skip: 'not needed' } });
}

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function administrate(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

/** A way to the server that forwards what the program says for as long as `passes` says so. */
async function proxied(passes: (bytes: Buffer) => boolean): Promise<(url: URL) => void> {
  const target = Number(new URL(server.url).port);
  const proxy = createServer((near: Socket) => {
    const far = connect(target, '127.0.0.1');
    near.on('data', (bytes) => {
      far.write(bytes);
      // The server gets it, and its answer does not come back.
      if (!passes(bytes)) near.destroy();
    });
    far.on('data', (bytes) => near.writable && near.write(bytes));
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => {});
      socket.on('close', () => other.end());
    }
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  proxies.push(proxy);
  const { port } = proxy.address() as AddressInfo;
  return (url) => {
    url.port = String(port);
  };
}

describe('a server that restarts', () => {
  it('is waited for: calls under way go on, and nothing is lost', async () => {
    const { ledger, ask, send, queue, me } = await bench(await open());
    const { lease, requests } = await send([1]);
    await server.stop();
    const late = ask(2);
    const answered = ledger.collected(lease, [
      { request: requests[0] as number, is: 'answer', answer: good },
    ]);
    await server.start();
    expect(await late).toMatchObject({ is: 'mine' });
    await answered;
    expect(await ask(1)).toMatchObject({ is: 'answered', answer: good });
    const { request } = await late;
    await ledger.plan(me, { token: 'after', queue, tags: {} }, [request]);
  });

  it('is told in the log, without a secret', async () => {
    const told: { message: string; shown: string }[] = [];
    const log = (message: string, facts?: object) => {
      told.push({
        message,
        shown: inspect([message, facts], { depth: Infinity, showHidden: true }),
      });
    };
    const ledger = await open({ patience: 50, logger: { debug: log, warn: log } });
    const owner = await ledger.join({ run: 'told', host: 'here', pid: 1 });
    await server.stop();
    await errorOf(ledger.admit(owner, []));
    await expect
      .poll(() => told.map(({ message }) => message))
      .toEqual(
        expect.arrayContaining([
          'batchling could not keep the connection that renews the leases',
          'batchling could not keep an idle connection',
          'batchling could not use the ledger at once',
        ]),
      );
    await server.start();
    for (const { shown } of told) {
      expect(shown).toMatch(/error: '.+'/);
      expect(shown).not.toContain('hunter2');
    }
  });

  it('is given up after a while, with a clear error', async () => {
    const ledger = await open({ patience: 50 });
    await server.stop();
    const error = await errorOf(ledger.list());
    await server.start();
    expect(error).toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringContaining('cannot be reached'),
    });
  });
});

describe('a server that crashes', () => {
  it('knows the marks around a create as soon as their promises have resolved', async () => {
    const { ledger, ask, me, queue } = await bench(await open());
    const { request } = await ask(1);
    const lease = await ledger.plan(me, { token: 'crash', queue, tags: {} }, [request]);
    const crash = async () => {
      await server.crash();
      await server.start();
      return ledger.show('crash');
    };
    await ledger.creating(lease, {}, { alone: false });
    expect(await crash()).toMatchObject({ state: 'creating' });
    await ledger.accepted(lease, { id: 'remote', raw: 'validating' });
    expect(await crash()).toMatchObject({ state: 'accepted', remoteId: 'remote' });
  });
});

describe('the connection that hears of other processes', () => {
  it('counts as a change when it is there again: something may have been missed', async () => {
    const store = storeAt();
    const [listening, writing] = [await open({ store }), await bench(await open({ store }))];
    await listening.join({ run: 'listens', host: 'here', pid: 1 });
    const connected = await listening.changed();
    await administrate(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LISTEN%' AND pid <> pg_backend_pid()`,
    );
    await expect.poll(() => listening.changed()).not.toBe(connected);
    const lost = await listening.changed();
    await writing.settle(1);
    await expect.poll(() => listening.changed()).not.toBe(lost);
  });
});

describe('a connection that breaks after the COMMIT has left', () => {
  it.each(['next', 0] as const)(
    'repeats nothing: the admission stands (%s)',
    async (occurrence) => {
      let armed = false;
      const way = await proxied((bytes) => !(armed && bytes.includes('COMMIT')) || !disarm());
      const disarm = () => {
        armed = false;
        return true;
      };
      const { ledger, ask, me } = await bench(await open({ store: storeAt(way) }));
      armed = true;
      const admission = await ask(1, { occurrence });
      expect(armed).toBe(false);
      expect(admission).toMatchObject({ is: 'mine', occurrence: 0 });
      expect(await ask(1, { occurrence: 'next' })).toMatchObject({
        occurrence: occurrence === 0 ? 0 : 1,
      });
      await ledger.withdraw(me, [admission.request]);
    },
  );
});

describe('what cannot be used', () => {
  it.each<[string, (url: URL) => void, string]>([
    [
      'a wrong password',
      (url) => {
        url.password = 'wrong-secret';
      },
      'the user or the password',
    ],
    [
      'no such database',
      (url) => {
        url.pathname = '/nothing';
      },
      'no such database',
    ],
    [
      'no server',
      (url) => {
        url.port = '1';
      },
      'cannot be reached',
    ],
  ])('%s is said clearly, without the password', async (_what, change, said) => {
    const store = storeAt(change);
    const error = await errorOf(openPostgresLedger({ store, openPatience: 50 }));
    expect(error).toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringContaining(said),
    });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/hunter2|wrong-secret/);
  });

  it('a user without rights', async () => {
    await administrate("CREATE ROLE guest LOGIN PASSWORD 'guest'");
    const store = storeAt((url) => {
      [url.username, url.password] = ['guest', 'guest'];
    });
    const error = await errorOf(openPostgresLedger({ store }));
    expect(error).toMatchObject({ message: expect.stringContaining('lacks a right') });
  });

  it('a read-only server', async () => {
    const store = storeAt((url) =>
      url.searchParams.set('options', '-c default_transaction_read_only=on'),
    );
    const error = await errorOf(openPostgresLedger({ store, openPatience: 50 }));
    expect(error).toMatchObject({ message: expect.stringContaining('read-only') });
  });

  it('a ledger of a newer version, and a schema of another program', async () => {
    const store = storeAt();
    const schema = new URL(store).searchParams.get('schema');
    await open({ store });
    await administrate(`UPDATE ${schema}.meta SET value = '99' WHERE key = 'schema'`);
    expect(await errorOf(openPostgresLedger({ store }))).toMatchObject({ code: 'STORE_NEWER' });
    await administrate('CREATE SCHEMA others; CREATE TABLE others.meta (a int)');
    const foreign = storeAt((url) => url.searchParams.set('schema', 'others'));
    expect(await errorOf(openPostgresLedger({ store: foreign }))).toMatchObject({
      message: expect.stringContaining('another program'),
    });
  });
});
