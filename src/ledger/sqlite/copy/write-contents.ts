import {
  type ContentsWriter,
  type Row,
  requestColumns,
  type StoredRequest,
  type TableName,
  tableNames,
  tables,
  type Value,
} from '../../copy/contents.ts';
import { notEmpty } from '../../copy/refusals.ts';
import type { RequestId } from '../../ledger.ts';
import { closedOnError } from '../../sql/closed-on-error.ts';
import { type BlockId, groupsOf, prepareAnswers } from '../answers/answers.ts';
import type { Database, SqliteValue, Statement } from '../connection/driver.ts';
import { explainStoreError } from '../connection/store-errors.ts';
import { toStored } from '../requests/bodies.ts';
import { columnOf } from './columns.ts';
import { openLocked } from './open-file.ts';

/**
 * All of it is one transaction: a copy that is interrupted leaves an empty ledger. A file that is new has a
 * rollback journal, in which new pages take no room; the first program that opens it gives it its log.
 */
const SETTINGS = `
  PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA cache_size = -32000`;

export async function writeSqliteContents(file: string): Promise<ContentsWriter> {
  const { path, database, close } = await openLocked(file, (opened) => opened.exec(SETTINGS));
  await closedOnError(close, () => {
    if (isUsed(database)) throw notEmpty(path);
  });
  const explained = async (work: () => void) => {
    try {
      work();
    } catch (error) {
      throw explainStoreError(path, error);
    }
  };
  const writeRequests = prepareRequests(database);
  return {
    salt: (salt) =>
      explained(() => {
        database.prepare("UPDATE meta SET value = ? WHERE key = 'salt'").run(salt);
      }),
    rows: (table, rows) => explained(() => writeRows(database, table, rows)),
    requests: (requests) => explained(() => writeRequests(requests)),
    finish: () =>
      explained(() => {
        database.exec(`
          INSERT INTO identity (prefix, occ, request)
          SELECT substr(fp, 1, 6), occ, id FROM request ORDER BY 1, 2, 3;
          COMMIT`);
      }),
    close,
  };
}

function isUsed(database: Database): boolean {
  const has = (table: string) =>
    database.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined;
  return [...tableNames, 'request'].some(has);
}

function writeRows(database: Database, table: TableName, rows: readonly Row[]): void {
  const { columns } = tables[table];
  const insert = prepareInsert(
    database,
    table,
    table === 'owner' ? [...columns, 'lock'] : columns.map(columnOf),
  );
  for (const row of rows) {
    const values = columns.map((column) => toSqlite(row[column] ?? null));
    // No file has this name, so that the owner counts as gone.
    if (table === 'owner') values.push(`moved-${row.id}`);
    insert.run(...values);
  }
}

function prepareRequests(database: Database): (requests: readonly StoredRequest[]) => void {
  const insert = prepareInsert(database, 'request', [...requestColumns, 'answer']);
  const insertBody = prepareInsert(database, 'body', ['request', 'body']);
  const answers = prepareAnswers(database);
  return (requests) => {
    const blocks = new Map<RequestId, BlockId>();
    const answered = requests.flatMap(({ id, answer }) =>
      answer ? [{ request: id, is: 'answer', answer } as const] : [],
    );
    for (const group of groupsOf(answered)) {
      const block = answers.add(group);
      for (const request of group.requests) blocks.set(request, block);
    }
    for (const { id, row, body } of requests) {
      const values = requestColumns.map((column) => toSqlite(row[column] ?? null));
      insert.run(...values, blocks.get(id) ?? null);
      if (body !== undefined) insertBody.run(id, toStored(body));
    }
  };
}

function prepareInsert(database: Database, table: string, columns: readonly string[]): Statement {
  const places = columns.map(() => '?').join();
  return database.prepare(`INSERT INTO ${table} (${columns.join()}) VALUES (${places})`);
}

function toSqlite(value: Value): SqliteValue {
  return typeof value === 'boolean' ? Number(value) : value;
}
