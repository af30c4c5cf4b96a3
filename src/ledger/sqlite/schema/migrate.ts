import { randomBytes } from 'node:crypto';
import { BatchlingError } from '../../../base/errors.ts';
import type { Database } from '../connection/driver.ts';
import { unusable } from '../connection/store-errors.ts';
import { initial } from './migrations/0001-initial.ts';
import { learntLimits } from './migrations/0002-learnt-limits.ts';
import { smallWrites } from './migrations/0003-small-writes.ts';
import { costs } from './migrations/0004-costs.ts';
import { answerChecksums } from './migrations/0005-answer-checksums.ts';
import { lastUse } from './migrations/0006-last-use.ts';
import type { Migration } from './migrations/migration.ts';

/** `docs/ledger.md` describes the schema and has to change with it. */
export const migrations: readonly Migration[] = [
  initial,
  learntLimits,
  smallWrites,
  costs,
  answerChecksums,
  lastUse,
];
const newest = migrations.at(-1)?.version ?? 0;

/**
 * Brings the schema up to date, in one transaction. Returns the salt of this ledger.
 * `isHeld`: whether the owner with this lock is alive.
 */
export function migrate(
  database: Database,
  path: string,
  isHeld: (lock: string) => boolean,
): Uint8Array {
  if (schemaVersion(database, path) < newest) {
    database.exec('BEGIN IMMEDIATE');
    try {
      // Asked again under the lock: another process may have migrated it since.
      const from = schemaVersion(database, path);
      if (from > 0 && from < newest) requireUnused(database, path, isHeld);
      advance(database, from);
      database.exec('COMMIT');
    } catch (error) {
      database.exec('ROLLBACK');
      throw error;
    }
  }
  const row = database.prepare("SELECT value FROM meta WHERE key = 'salt'").get();
  return (row as { value: Uint8Array }).value;
}

/**
 * A program that knows only the old schema would go on with its own statements: newer programs would not
 * find its requests, and would pay for them again.
 */
function requireUnused(database: Database, path: string, isHeld: (lock: string) => boolean): void {
  const owners = database
    .prepare('SELECT host, pid, lock FROM owner WHERE closed_at IS NULL')
    .all() as { host: string; pid: number; lock: string }[];
  const alive = owners.find(({ lock }) => isHeld(lock));
  if (!alive) return;
  const { host, pid } = alive;
  throw unusable(
    path,
    `process ${pid} on ${host} works with it and uses an older version of batchling. ` +
      'Run again when that one has ended, or choose another store.',
  );
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
