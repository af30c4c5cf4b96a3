// Large ledgers for the bench of the page: finished requests in batches of 1,000, over 60 days. In each there are 300 requests
// that were never sent below all the others, one batch that runs, and the totals of the days. One answer of 1,000 is an error.
// The parts of the ledger are no entries of the package: they are loaded from the sources.
import 'tsx';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runOnce } from './processes.mjs';

const perBatch = 1_000;
const days = 60;
const left = 300;

/** SQL: the end of the batch `id` of so many. */
const endedAt = (batches) =>
  `${Date.now()} - (${batches} - id) * ${Math.floor((days * 86_400_000) / batches)}`;

const totals = (day) => `
  INSERT INTO daily_cost
  SELECT ${day}, 'openai', 'gpt-5-mini', 'batch', name, tags, sum(count), 0,
    sum(count) * 900, sum(count) * 120, 0, 0, sum(count) * 0.0021, sum(count) * 0.0021, sum(count) * 0.0022
  FROM batch WHERE ended_at IS NOT NULL GROUP BY 1, 5, 6;`;

/** The newest batch runs, and the oldest requests wait. */
const unfinished = `
  UPDATE batch SET state = 4, answered = 0, ended_at = NULL WHERE id = (SELECT max(id) FROM batch);
  UPDATE request SET state = 0, batch = NULL, seq = NULL WHERE id <= ${left};`;

export async function fileLedger(requests) {
  const { loadDriver } = await import('../src/ledger/sqlite/connection/driver.ts');
  const folder = await mkdtemp(join(tmpdir(), 'batchling-page-'));
  const store = join(folder, 'ledger.db');
  await runOnce('seed-ledger.mjs', store, String(requests));
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(store);
  const batches = Math.ceil(requests / perBatch);
  const ago = endedAt(batches);
  database.exec(`
    PRAGMA synchronous = OFF;
    BEGIN;
    WITH RECURSIVE number (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number LIMIT ${batches})
    INSERT INTO batch (id, token, queue, run, owner, epoch, state, count, answered, name, tags, remote_id,
      created_at, creating_at, accepted_at, ended_at)
    SELECT id, printf('bl_%016x', id * 2654435761), 1, 'seed', 1, 1, 5, ${perBatch}, ${perBatch},
      'name-' || (id % 20), '{"team":"search"}', 'batch_' || id, ${ago} - 3600000, ${ago} - 3600000,
      ${ago} - 3590000, ${ago}
    FROM number;
    UPDATE request SET batch = (id - 1) / ${perBatch} + 1, seq = (id - 1) % ${perBatch};
    ${unfinished}
    ${totals("date(ended_at / 1000, 'unixepoch')")}
    UPDATE answer SET status = 400 WHERE id % 1000 = 0;
    UPDATE request SET state = 3 WHERE answer % 1000 = 0;
    COMMIT;
    PRAGMA wal_checkpoint(TRUNCATE);
  `);
  database.close();
  return { store, remove: () => rm(folder, { recursive: true, force: true }) };
}

export async function databaseLedger(requests) {
  const { default: pg } = await import('pg');
  const { startServer } = await import('../src/ledger/postgres/test/server.test-helper.ts');
  const server = await startServer(['shared_buffers=256MB', 'max_wal_size=4GB', 'autovacuum=on']);
  const store = `${server.url}?schema=page`;
  // It makes the tables, an owner and a queue.
  await runOnce('postgres-large.mjs', store, '0');
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const batches = Math.ceil(requests / perBatch);
  const ago = endedAt(batches);
  await client.query(`
    SET search_path TO page;
    INSERT INTO batch (token, queue, run, owner, epoch, state, count, answered, name, tags, remote_id,
      created_at, creating_at, accepted_at, ended_at)
    SELECT 'bl_' || lpad(to_hex(id * 2654435761), 16, '0'), 1, 'seed', 1, 1, 5, ${perBatch}, ${perBatch},
      'name-' || (id % 20), '{"team":"search"}', 'batch_' || id, ${ago} - 3600000, ${ago} - 3600000,
      ${ago} - 3590000, ${ago}
    FROM generate_series(1::bigint, ${batches}) AS id;
    INSERT INTO request (id, fp, occ, generation, queue, owner, batch, seq, state, attempt, at)
    SELECT nextval('request_id'), sha256(int8send(n)), 0, 0, 1, 1, n / ${perBatch} + 1, n % ${perBatch},
      CASE WHEN (n + 1) % 1000 = 0 THEN 3 ELSE 2 END, 1, ${Date.now()}
    FROM generate_series(0::bigint, ${requests} - 1) AS n;
    INSERT INTO answer (request, status, headers, body)
    SELECT id, CASE WHEN id % 1000 = 0 THEN 400 ELSE 200 END, '{"content-type":"application/json"}',
      convert_to('{"object":"chat.completion"}', 'UTF8')
    FROM request;
    ${unfinished}
    ${totals("to_char(to_timestamp(ended_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')")}`);
  // As a server has done it by itself some minutes later.
  await client.query('VACUUM ANALYZE');
  await client.query('CHECKPOINT');
  await client.end();
  return { store, remove: () => server.remove() };
}
