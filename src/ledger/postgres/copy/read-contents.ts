import {
  BYTES_PER_PAGE,
  type ContentsReader,
  pagesOf,
  ROWS_PER_PAGE,
  type Row,
  requestColumns,
  type StoredRequest,
  type TableName,
  tables,
} from '../../copy/contents.ts';
import { inUse } from '../../copy/refusals.ts';
import type { RequestId } from '../../ledger.ts';
import { closedOnError } from '../../sql/closed-on-error.ts';
import { findAlive } from '../owners/alive.ts';
import { readAnswers } from '../requests/answers.ts';
import { isThere, migrate } from '../schema/migrate.ts';
import { type CopyConnection, openClient } from './open-client.ts';

/**
 * `undefined`: there is no ledger. Throws while an owner is here. Nobody can join until it is closed, and what
 * is read is of one moment.
 */
export async function readPostgresContents(store: string): Promise<ContentsReader | undefined> {
  let salt: Uint8Array | undefined;
  const connection = await openClient({ store }, async (connected, patience) => {
    if (await isThere(connected, patience)) salt = await migrate(connected, patience);
  });
  if (salt !== undefined) return readFrom(connection, salt);
  await connection.close();
  return undefined;
}

async function readFrom(connection: CopyConnection, salt: Uint8Array): Promise<ContentsReader> {
  const { query, shown, close } = connection;
  await closedOnError(close, async () => {
    // The lock comes before the first statement, with which the moment of the transaction begins.
    await query('BEGIN ISOLATION LEVEL REPEATABLE READ; LOCK TABLE owner IN SHARE MODE');
    const here = await findAlive({ rows: query });
    if (here) throw inUse(shown, here);
  });
  return {
    salt,
    async countRequests() {
      const [row] = await query<{ n: number }>('SELECT count(*) AS n FROM request');
      return row?.n ?? 0;
    },
    rows: (table) => rowsOf(connection, table),
    requests: () => requestsOf(connection),
    close,
  };
}

function rowsOf({ query }: CopyConnection, table: TableName): AsyncIterable<readonly Row[]> {
  const { columns, key } = tables[table];
  const sql = (condition: string) =>
    `SELECT ${columns.join()} FROM ${table} ${condition} ORDER BY ${key.join()} LIMIT ${ROWS_PER_PAGE}`;
  const places = key.map((_, index) => `$${index + 1}`).join();
  const next = sql(`WHERE (${key.join()}) > (${places})`);
  return pagesOf(tables[table], (after) => (after ? query(next, after) : query(sql(''))));
}

type RequestRow = Row & { readonly id: RequestId; readonly bytes: number };

const SELECT_REQUESTS = `
  SELECT ${requestColumns.map((column) => `request.${column}`).join()},
    (coalesce(octet_length(answer.body), 0) + coalesce(octet_length(body.body), 0))::int AS bytes
  FROM request LEFT JOIN answer ON answer.request = request.id
    LEFT JOIN body ON body.request = request.id
  WHERE request.id > $1 ORDER BY request.id LIMIT ${ROWS_PER_PAGE}`;

async function* requestsOf(connection: CopyConnection): AsyncGenerator<readonly StoredRequest[]> {
  let after = 0;
  for (;;) {
    const rows = await connection.query<RequestRow>(SELECT_REQUESTS, [after]);
    for (const page of pagesBySize(rows)) yield await withTexts(connection, page);
    if (rows.length < ROWS_PER_PAGE) return;
    after = (rows.at(-1) as RequestRow).id;
  }
}

function* pagesBySize(rows: readonly RequestRow[]): Generator<RequestRow[]> {
  let page: RequestRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    page.push(row);
    bytes += row.bytes;
    if (bytes < BYTES_PER_PAGE) continue;
    yield page;
    [page, bytes] = [[], 0];
  }
  if (page.length > 0) yield page;
}

async function withTexts(
  { query }: CopyConnection,
  rows: readonly RequestRow[],
): Promise<StoredRequest[]> {
  const requests = rows.map(({ id }) => id);
  const answers = await readAnswers({ rows: query }, requests);
  const bodies = await query<{ request: RequestId; body: Uint8Array }>(
    'SELECT request, body FROM body WHERE request = ANY($1::bigint[])',
    [requests],
  );
  const texts = new Map(bodies.map(({ request, body }) => [request, Buffer.from(body).toString()]));
  return rows.map(({ bytes: _, ...row }) => {
    const { id } = row as RequestRow;
    const [answer, body] = [answers.get(id), texts.get(id)];
    return { id, row, ...(answer && { answer }), ...(body !== undefined && { body }) };
  });
}
