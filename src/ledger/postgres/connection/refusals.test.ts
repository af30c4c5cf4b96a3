import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openBench } from '../../conformance/subject.test-helper.ts';
import type { Ledger } from '../../ledger.ts';
import { startServer, type TestServer } from '../test/server.test-helper.ts';
import { openExistingPostgresLedger, openPostgresLedger } from './open-postgres.ts';

const CONNECTIONS = 5;

let server: TestServer;
let ledgers: Ledger[] = [];
let proxies: Server[] = [];
let schemas = 0;

beforeAll(async () => {
  server = await startServer([
    `max_connections=${CONNECTIONS}`,
    'superuser_reserved_connections=0',
    'max_wal_senders=0',
  ]);
});
afterAll(() => server.remove());
afterEach(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.close()));
  for (const proxy of proxies) proxy.close();
  [ledgers, proxies] = [[], []];
});

function newStore(change: (url: URL) => void = () => {}): string {
  schemas += 1;
  const url = new URL(server.url);
  url.searchParams.set('schema', `refused_${schemas}`);
  change(url);
  return url.href;
}

async function open(store: string, patience = 20): Promise<Ledger> {
  const ledger = await openPostgresLedger({ store, patience, openPatience: patience });
  ledgers.push(ledger);
  return ledger;
}

async function expectRefused(work: Promise<unknown>, said: string): Promise<void> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({
    code: 'STORE_UNUSABLE',
    message: expect.stringContaining(said),
  });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hunter2');
}

async function administrator(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  return client;
}

/** All connections that the server has. One that was closed just now keeps its place until its process has ended. */
async function takeAll(): Promise<pg.Client[]> {
  const taken: pg.Client[] = [];
  while (taken.length < CONNECTIONS) {
    const client = await administrator().catch((error: { code?: string }) => {
      if (error.code !== '53300') throw error;
    });
    if (client) taken.push(client);
  }
  return taken;
}

/** What the server says when a statement cannot be run, and that it waits for the end of the transaction. */
function errorReply(code: string, message: string): Buffer {
  const fields = Buffer.from(`SERROR\0VERROR\0C${code}\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields, Buffer.from('Z\0\0\0\x05E')]);
}

/** A way to the server on which statements with this text fail. */
async function failing(text: string, reply: Buffer): Promise<number> {
  const target = Number(new URL(server.url).port);
  const proxy = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    near.on('data', (bytes) => (bytes.includes(text) ? near.write(reply) : far.write(bytes)));
    far.on('data', (bytes) => near.write(bytes));
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('close', () => far.end());
    far.on('close', () => near.end());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  proxies.push(proxy);
  return (proxy.address() as AddressInfo).port;
}

it('a full disk is said at once, and what was stored before stays', async () => {
  const reply = errorReply('53100', 'could not extend file: No space left on device');
  const port = await failing('INSERT INTO answer', reply);
  const store = newStore((url) => {
    url.port = String(port);
  });
  const subject = { name: '', open: () => open(store, 60_000), kill: { skip: '' } };
  const { settle, ask } = await openBench(subject);
  await ask(2);
  await expectRefused(settle(1), 'the disk of the server is full');
  expect(await ask(2)).toMatchObject({ is: 'wait' });
});

it('no connection that is left is waited for a while, then said', async () => {
  const others = await takeAll();
  await expectRefused(open(newStore()), 'no connection left');
  const waiting = open(newStore(), 60_000);
  await Promise.all(others.map((client) => client.end()));
  await waiting;
});

it('a server without TLS, where the URL wants it', async () => {
  const store = newStore((url) => url.searchParams.set('sslmode', 'require'));
  await expectRefused(open(store), 'offers no TLS');
});

it('a ledger on a read-only server can be looked at, and nobody can join', async () => {
  const store = newStore();
  await (await openPostgresLedger({ store })).close();
  const url = new URL(store);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const ledger = await open(url.href);
  expect(await ledger.list()).toEqual([]);
  expect(await ledger.prune({ olderThan: -1, maxBytes: 0, dryRun: true })).toMatchObject({
    requests: 0,
  });
  await expectRefused(ledger.join({ run: 'run', host: 'here', pid: 1 }), 'read-only');
});

it('a database without a ledger is not given one by those who only look', async () => {
  const store = newStore();
  expect(await openExistingPostgresLedger({ store })).toBeUndefined();
  const client = await administrator();
  const { rows } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [
    new URL(store).searchParams.get('schema'),
  ]);
  await client.end();
  expect(rows).toEqual([]);
});

it('a lease that is no duration', async () => {
  const store = newStore((url) => url.searchParams.set('lease', 'soon'));
  await expect(open(store)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
});
