import {
  BYTES_PER_PAGE,
  type ContentsReader,
  pagesOf,
  ROWS_PER_PAGE,
  type Row,
  type requestColumns,
  type StoredRequest,
  type TableName,
  tables,
  type Value,
} from '../../copy/contents.ts';
import { inUse } from '../../copy/refusals.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { closedOnError } from '../../sql/closed-on-error.ts';
import { BATCH, REQUEST } from '../../sql/codes.ts';
import { type BlockId, prepareAnswers } from '../answers/answers.ts';
import type { Database, SqliteValue } from '../connection/driver.ts';
import { damageIn } from '../connection/store-errors.ts';
import { fromStored } from '../requests/bodies.ts';
import { columnOf } from './columns.ts';
import { openLocked } from './open-file.ts';

/** Throws while an owner is here. Its file is only read, and none of its processes can write meanwhile. */
export async function readSqliteContents(
  file: string,
  warn: LedgerOptions['warn'],
): Promise<ContentsReader> {
  const { path, database, locks, salt, close } = await openLocked(file, () => {});
  await closedOnError(close, () => {
    const here = locks.findAlive(database);
    if (here) throw inUse(path, here);
    database.exec(LIST_NEW_ANSWERS);
  });
  return {
    salt,
    async countRequests() {
      const row = database.prepare('SELECT count(*) AS n FROM request').get();
      return (row as { n: number }).n;
    },
    rows: (table) => rowsOf(database, table),
    requests: () => requestsOf(database, () => warn?.(damageIn(path))),
    close,
  };
}

/**
 * Answers that the rows of their requests do not name yet, see `NewAnswers`. A temporary table is no part of
 * the ledger's file.
 */
const LIST_NEW_ANSWERS = `
  CREATE TEMP TABLE listed (
    request INTEGER PRIMARY KEY, batch INTEGER, answer INTEGER, state INTEGER, owner INTEGER, at INTEGER
  );
  INSERT OR IGNORE INTO temp.listed
  SELECT request.id, new.batch, new.answer, new.state, new.owner, new.at
  FROM answer_new AS new JOIN answer ON answer.id = new.answer
    CROSS JOIN json_each(answer.request) AS member CROSS JOIN request ON request.id = member.value
  WHERE +request.batch = new.batch AND request.state = ${REQUEST.planned}
  ORDER BY new.id;
  CREATE INDEX temp.listed_batch ON listed (batch);
`;

/** A plan that was not finished is no batch yet. */
const IS_PLANNING = `batch.state = ${BATCH.planning}`;

function rowsOf(database: Database, table: TableName): AsyncIterable<readonly Row[]> {
  const { columns, key } = tables[table];
  const selected = columns.map((column) => `${expression(table, column)} AS ${column}`).join();
  const condition = table === 'batch' ? `NOT (${IS_PLANNING})` : 'true';
  const sql = (after: string) =>
    `SELECT ${selected} FROM ${table} WHERE ${condition} ${after}
     ORDER BY ${key.map(columnOf).join()} LIMIT ${ROWS_PER_PAGE}`;
  const keys = `(${key.map(columnOf).join()}) > (${key.map(() => '?').join()})`;
  const [first, next] = [sql(''), sql(`AND ${keys}`)].map((text) => database.prepare(text));
  return pagesOf(tables[table], async (after) => {
    const rows = after ? next?.all(...(after as SqliteValue[])) : first?.all();
    return rows as Row[];
  });
}

function expression(table: TableName, column: string): string {
  const value = `${table}.${columnOf(column)}`;
  if (table !== 'batch' || column !== 'answered') return value;
  return `${value} + (SELECT count(*) FROM temp.listed WHERE listed.batch = batch.id)`;
}

type RequestRow = Record<(typeof requestColumns)[number], Value> & {
  readonly id: number;
  readonly answer: BlockId | null;
};

/** A request without an identity is being dropped, see `prune-requests.ts`. */
const SELECT_REQUESTS = `
  SELECT request.id, fp, occ, generation, request.queue, attempt,
    coalesce(listed.owner, request.owner) AS owner, coalesce(listed.at, request.at) AS at,
    iif(${IS_PLANNING}, NULL, request.batch) AS batch, iif(${IS_PLANNING}, NULL, seq) AS seq,
    iif(${IS_PLANNING}, ${REQUEST.admitted}, coalesce(listed.state, request.state)) AS state,
    coalesce(listed.answer, request.answer) AS answer
  FROM request LEFT JOIN batch ON batch.id = request.batch
    LEFT JOIN temp.listed ON listed.request = request.id
  WHERE request.id > ? AND EXISTS (
    SELECT 1 FROM (SELECT * FROM identity UNION ALL SELECT * FROM identity_new) AS identity
    WHERE prefix = substr(fp, 1, 6) AND identity.occ = request.occ AND identity.request = request.id
  )
  ORDER BY request.id LIMIT ${ROWS_PER_PAGE}`;

async function* requestsOf(
  database: Database,
  tellDamaged: () => void,
): AsyncGenerator<readonly StoredRequest[]> {
  const select = database.prepare(SELECT_REQUESTS);
  const findBody = database.prepare('SELECT body FROM body WHERE request = ?');
  const answers = prepareAnswers({ prepare: (sql) => database.prepare(sql), tellDamaged });
  let after = 0;
  for (;;) {
    const rows = select.all(after) as RequestRow[];
    const findAnswer = answers.finder();
    let page: StoredRequest[] = [];
    let characters = 0;
    for (const { answer: block, ...row } of rows) {
      const answer = findAnswer({ id: row.id, answer: block });
      const stored = findBody.get(row.id) as { body: string | Uint8Array } | undefined;
      const body = stored && fromStored(stored.body);
      const parts = { ...(answer && { answer }), ...(body !== undefined && { body }) };
      page.push({ id: row.id, row, ...parts });
      characters += (answer?.body.length ?? 0) + (body?.length ?? 0);
      if (characters < BYTES_PER_PAGE) continue;
      yield page;
      [page, characters] = [[], 0];
    }
    if (page.length > 0) yield page;
    if (rows.length < ROWS_PER_PAGE) return;
    after = (rows.at(-1) as RequestRow).id;
  }
}
