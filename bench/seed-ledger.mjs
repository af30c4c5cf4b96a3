// A ledger with finished requests of an earlier run: node seed-ledger.mjs <path> <count>
// The parts of the ledger are no entries of the package: they are loaded from the sources.
import 'tsx';

const sqlite = '../src/ledger/sqlite';
const { encodeBlock } = await import(`${sqlite}/answers/answer-block.ts`);
const { ANSWERS_PER_BLOCK } = await import(`${sqlite}/answers/answers.ts`);
const { loadDriver } = await import(`${sqlite}/connection/driver.ts`);
const { openSqliteLedger } = await import(`${sqlite}/connection/open-sqlite.ts`);
const { REQUEST } = await import('../src/ledger/sql/codes.ts');

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

// The rows that the ledger would have written, without the minutes it would have taken: all blocks are
// alike, and the identities go in sorted.
const { headers, bytes } = encodeBlock(
  Array.from({ length: ANSWERS_PER_BLOCK }, (_, place) => ({
    status: 200,
    headers: { 'content-type': 'application/json', 'x-request-id': `req_${place}` },
    body: '{"object":"chat.completion"}',
  })),
);
const { DatabaseSync } = await loadDriver();
const database = new DatabaseSync(path, { timeout: 1000 });
database.exec('PRAGMA synchronous = OFF; BEGIN');
const insertBlock = database.prepare(
  'INSERT INTO answer (id, request, status, headers, body) VALUES (?, ?, 200, ?, ?)',
);
const requests = Math.ceil(Number(count) / ANSWERS_PER_BLOCK) * ANSWERS_PER_BLOCK;
for (let first = 1, block = 1; first <= requests; first += ANSWERS_PER_BLOCK, block += 1) {
  const members = Array.from({ length: ANSWERS_PER_BLOCK }, (_, place) => first + place);
  insertBlock.run(block, JSON.stringify(members), JSON.stringify(headers), bytes);
}
database.exec(`
  WITH RECURSIVE number (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number LIMIT ${requests})
  INSERT INTO request (id, fp, occ, generation, queue, owner, state, attempt, at, answer)
  SELECT id, randomblob(32), 0, 0, ${queue}, ${owner}, ${REQUEST.answered}, 0, ${Date.now()},
    (id - 1) / ${ANSWERS_PER_BLOCK} + 1
  FROM number;
  INSERT INTO identity (prefix, occ, request)
  SELECT substr(fp, 1, 6), occ, id FROM request ORDER BY 1, 2, 3;
  COMMIT;
  PRAGMA wal_checkpoint(TRUNCATE);
`);
database.close();
process.stdout.write('{}\n');
