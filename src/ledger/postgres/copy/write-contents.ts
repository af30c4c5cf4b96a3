import {
  type ContentsWriter,
  type Row,
  requestColumns,
  type StoredRequest,
  type TableName,
  tableNames,
  tables,
} from '../../copy/contents.ts';
import { notEmpty } from '../../copy/refusals.ts';
import { closedOnError } from '../../sql/closed-on-error.ts';
import { migrate } from '../schema/migrate.ts';
import { type CopyConnection, openClient } from './open-client.ts';

/** All of it is one transaction: a copy that is interrupted leaves an empty ledger. */
export async function writePostgresContents(store: string): Promise<ContentsWriter> {
  const connection = await openClient({ store }, async (connected, patience) => {
    await migrate(connected, patience);
  });
  const { query, shown, close } = connection;
  await closedOnError(close, async () => {
    // Nobody can join before the contents are there.
    await query('BEGIN; LOCK TABLE owner IN EXCLUSIVE MODE');
    if (await isUsed(connection)) throw notEmpty(shown);
  });
  return {
    async salt(salt) {
      await query("UPDATE meta SET value = $1 WHERE key = 'salt'", [Buffer.from(salt)]);
    },
    rows: (table, rows) => writeRows(connection, table, rows),
    requests: (requests) => writeRequests(connection, requests),
    async finish() {
      for (const table of ['owner', 'account', 'queue', 'batch']) {
        await query(
          `SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id)) FROM ${table}`,
        );
      }
      await query("SELECT setval('request_id', max(id)) FROM request");
      await query('SET LOCAL synchronous_commit = on; COMMIT');
      // Without them the first statements would walk through whole tables.
      await query('ANALYZE request, answer, batch, owner, run_count').catch(() => {});
    },
    close,
  };
}

async function isUsed({ query }: CopyConnection): Promise<boolean> {
  const has = [...tableNames, 'request'].map((table) => `EXISTS (SELECT 1 FROM ${table})`);
  const [row] = await query<{ used: boolean }>(`SELECT ${has.join(' OR ')} AS used`);
  return row?.used === true;
}

function writeRows(
  connection: CopyConnection,
  table: TableName,
  rows: readonly Row[],
): Promise<void> {
  const { columns } = tables[table];
  if (table !== 'owner') return insert(connection, table, columns, rows);
  // An owner whose lease is over counts as gone.
  const gone = rows.map((row) => ({ ...row, lease_until: '-infinity' }));
  return insert(connection, table, [...columns, 'lease_until'], gone);
}

async function writeRequests(
  connection: CopyConnection,
  requests: readonly StoredRequest[],
): Promise<void> {
  const answers = requests.flatMap(({ id, answer }) => {
    if (!answer) return [];
    const { status, headers, body } = answer;
    return [{ request: id, status, headers: JSON.stringify(headers), body: Buffer.from(body) }];
  });
  const bodies = requests.flatMap(({ id, body }) =>
    body === undefined ? [] : [{ request: id, body: Buffer.from(body) }],
  );
  const rows = requests.map(({ row }) => row);
  await insert(connection, 'request', requestColumns, rows);
  await insert(connection, 'answer', ['request', 'status', 'headers', 'body'], answers);
  await insert(connection, 'body', ['request', 'body'], bodies);
}

async function insert(
  { query }: CopyConnection,
  table: string,
  columns: readonly string[],
  rows: readonly Row[],
): Promise<void> {
  if (rows.length === 0) return;
  const lists = rows.map((_, row) => {
    const places = columns.map((__, column) => `$${row * columns.length + column + 1}`);
    return `(${places.join()})`;
  });
  await query(
    `INSERT INTO ${table} (${columns.join()}) OVERRIDING SYSTEM VALUE VALUES ${lists.join()}`,
    rows.flatMap((row) => columns.map((column) => toPostgres(row[column] ?? null))),
  );
}

/** The driver knows bytes by the class `Buffer`. */
function toPostgres(value: Row[string]): unknown {
  if (!(value instanceof Uint8Array)) return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
