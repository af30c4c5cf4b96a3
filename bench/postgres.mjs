// What a ledger in PostgreSQL costs, after a build: npx tsx bench/postgres.mjs [stored requests]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startServer } from '../src/ledger/postgres/test/server.test-helper.ts';
import { least } from './least.mjs';
import { postmasterOf, serverSeconds } from './postgres-cpu.mjs';
import { runOnce, startProvider } from './processes.mjs';
import { formatTable } from './table.mjs';

const stored = Number(process.argv[2] ?? 1_000_000);
const calls = 50_000;
const fleet = { processes: 8, calls: 10_000 };
const number = (value) => value.toLocaleString('en');

const folder = await mkdtemp(join(tmpdir(), 'batchling-bench-'));
const server = await startServer(['shared_buffers=256MB', 'max_wal_size=4GB', 'autovacuum=on']);
const client = new pg.Client({ connectionString: server.url });
await client.connect();
const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
const postmaster = postmasterOf(rows[0].pid);
const at = (schema) => `${server.url}?schema=${schema}`;

const parts = { cost: clientCost, fleet: fleetSpeed, large: largeDatabase };
const chosen = process.argv[3]?.split(',') ?? Object.keys(parts);
try {
  const table = [];
  for (const name of chosen) table.push(...(await parts[name]()));
  process.stdout.write(`${formatTable(table)}\n`);
} finally {
  await client.end();
  await server.remove();
  await rm(folder, { recursive: true, force: true });
}

async function clientCost() {
  const file = [];
  const database = [];
  for (const round of [1, 2]) {
    process.stderr.write(`${calls} calls, round ${round} of 2\n`);
    file.push(await measureOn(join(folder, `file-${round}.db`)));
    database.push(await measureOn(at(`cost_${round}`)));
  }
  const what = `${number(calls)} calls, store in a file / in PostgreSQL`;
  const row = (name) => ({ base: least(file)[name], ours: least(database)[name] });
  return [
    { what: `${what}: CPU of the program per call`, unit: 'µs', ...row('cpuMicroseconds') },
    { what: `${what}: peak memory`, unit: 'MB', ...row('memoryMegabytes') },
  ];
}

async function measureOn(store) {
  const provider = await startProvider();
  const cost = await runOnce('ours.mjs', provider.base, String(calls), store);
  await provider.stop();
  return cost;
}

/** Each process talks to a provider of its own, so that their requests differ. */
async function fleetSpeed() {
  process.stderr.write(`${fleet.processes} processes with ${fleet.calls} calls each\n`);
  const providers = await Promise.all(Array.from({ length: fleet.processes }, startProvider));
  const before = serverSeconds(postmaster);
  const startedAt = performance.now();
  await Promise.all(
    providers.map(({ base }) => runOnce('ours.mjs', base, String(fleet.calls), at('fleet'))),
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const cpu = serverSeconds(postmaster) - before;
  await Promise.all(providers.map((provider) => provider.stop()));
  const all = fleet.processes * fleet.calls;
  const what = `${fleet.processes} processes with ${number(fleet.calls)} calls each on one database`;
  const one = (unit, value) => ({ unit, base: value, ours: value });
  return [
    { what: `${what}: calls per second`, ...one('', all / seconds) },
    { what: `${what}: CPU of the server per call`, ...one('µs', (cpu / all) * 1e6) },
  ];
}

async function largeDatabase() {
  process.stderr.write(`making a database of ${number(stored)} requests\n`);
  await runOnce('postgres-large.mjs', at('large'), '1');
  await runOnce('postgres-large.mjs', at('small'), '1');
  await client.query(`SET search_path TO large; ${seedSql(stored)}`);
  // As a server has done it by itself some minutes later; otherwise it would do so while we measure.
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  const small = [];
  const large = [];
  for (const round of [1, 2, 3]) {
    process.stderr.write(`large database, round ${round} of 3\n`);
    small.push(await runOnce('postgres-large.mjs', at('small'), '12'));
    large.push(await runOnce('postgres-large.mjs', at('large'), '12'));
  }
  const what = (name) => `${name} 1,000 requests, empty database / ${number(stored)} requests`;
  const row = (name) => ({ base: least(small)[name], ours: least(large)[name], budget: 1.5 });
  return [
    { what: what('admit'), unit: 'ms', ...row('admit') },
    { what: what('claim'), unit: 'ms', ...row('claim') },
  ];
}

/** Finished requests of earlier runs, in batches of 10,000. */
function seedSql(count) {
  return `
    INSERT INTO request (id, fp, occ, generation, queue, owner, batch, seq, state, attempt, at)
    SELECT nextval('request_id'), sha256(int8send(n)), 0, 0, 1, 1, 1000000 + n / 10000, n % 10000, 2, 1, 0
    FROM generate_series(1, ${count}) AS n;
    INSERT INTO batch (id, token, queue, run, owner, epoch, state, count, tags, created_at, ended_at)
    OVERRIDING SYSTEM VALUE
    SELECT 1000000 + n, 'seed-' || n, 1, 'run-' || n, 1, 1, 5, 10000, '{}', 0, 0
    FROM generate_series(0, ${count} / 10000) AS n;
    SELECT setval(pg_get_serial_sequence('batch', 'id'), 2000000);
    INSERT INTO run_count (run, fp, n)
    SELECT 'run-' || n / 10000, sha256(int8send(n)), 1 FROM generate_series(1, ${count}) AS n;
    INSERT INTO owner (run, host, pid, joined_at, closed_at, lease_until)
    SELECT 'run-' || n, 'bench', n, 0, 0, '-infinity' FROM generate_series(1, ${count} / 1000) AS n;`;
}
