import { randomBytes } from 'node:crypto';
import { BatchlingError } from '../../errors.ts';
import type { Database } from './driver.ts';
import { migrations } from './migrations/index.ts';
import { unusable } from './store-errors.ts';

const newest = migrations.at(-1)?.version ?? 0;

/** Brings the schema up to date, in one transaction. Returns the salt of this ledger. */
export function migrate(database: Database, path: string): Uint8Array {
  if (schemaVersion(database, path) < newest) {
    database.exec('BEGIN IMMEDIATE');
    try {
      // Asked again under the lock: another process may have done it since.
      advance(database, schemaVersion(database, path));
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }
  const row = database.prepare("SELECT value FROM meta WHERE key = 'salt'").get();
  return (row as { value: Uint8Array }).value;
}

function advance(database: Database, from: number): void {
  if (from === 0) {
    database.exec('CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID');
    database.prepare("INSERT INTO meta (key, value) VALUES ('salt', ?)").run(randomBytes(32));
  }
  for (const migration of migrations) {
    if (migration.version > from) database.exec(migration.sql);
  }
  database.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', ?)").run(newest);
}

function schemaVersion(database: Database, path: string): number {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return 0;
  if (!tables.some((table) => (table as { name: string }).name === 'meta')) {
    throw unusable(path, 'it is a database of another program. Choose another store.');
  }
  const row = database.prepare("SELECT value FROM meta WHERE key = 'schema'").get();
  const version = Number((row as { value: unknown } | undefined)?.value);
  if (!Number.isInteger(version) || version < 1) {
    throw unusable(path, 'it is a database of another program. Choose another store.');
  }
  if (version <= newest) return version;
  throw new BatchlingError(
    'STORE_NEWER',
    `The ledger ${path} was written by a newer batchling: it has schema ${version}, this one knows ` +
      `schemas up to ${newest}. Update batchling, or choose another store.`,
    { facts: { path, schema: version, known: newest } },
  );
}
