// A ledger with finished requests of an earlier run: node seed-ledger.mjs <path> <count>
import { loadDriver } from '../dist/ledger/sqlite/driver.js';
import { openSqliteLedger } from '../dist/ledger/sqlite/open-sqlite.js';

const [path, count] = process.argv.slice(2);

const ledger = await openSqliteLedger({ path });
const owner = await ledger.join({ run: 'seed', host: 'bench', pid: 1 });
const account = await ledger.account({ provider: 'openai', hash: new Uint8Array(32) });
const queue = await ledger.queue({
  account,
  provider: 'openai',
  base: 'https://api.openai.com/v1',
  endpoint: '/v1/chat/completions',
  model: 'gpt-5-mini',
  batchHeaders: {},
});
await ledger.leave(owner);
await ledger.close();

const { DatabaseSync } = await loadDriver();
const database = new DatabaseSync(path, { timeout: 1000 });
const index = database
  .prepare("SELECT sql FROM sqlite_schema WHERE name = 'request_identity'")
  .get();
// Made again at the end: a million inserts at random places would take minutes.
database.exec(`
  PRAGMA synchronous = OFF;
  BEGIN;
  DROP INDEX request_identity;
  WITH RECURSIVE number (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number LIMIT ${Number(count)})
  INSERT INTO request (id, fp, occ, generation, queue, owner, state, attempt, at, answer)
  SELECT id, randomblob(32), 0, 0, ${queue}, ${owner}, 2, 0, ${Date.now()}, id FROM number;
  INSERT INTO answer (id, request, status, headers, body)
  SELECT id, id, 200, '{"x-request-id":"req_seed"}', '{"object":"chat.completion"}' FROM request;
  ${index.sql};
  COMMIT;
  PRAGMA wal_checkpoint(TRUNCATE);
`);
database.close();
process.stdout.write('{}\n');
