import { randomBytes } from 'node:crypto';
import { Migrations, requireUnused } from '../../sql/migrations.ts';
import { unusable } from '../../sql/unusable.ts';
import type { Database } from '../connection/driver.ts';
import type { OwnerLocks } from '../owners/owner-locks.ts';
import { initial } from './migrations/0001-initial.ts';
import { learntLimits } from './migrations/0002-learnt-limits.ts';
import { smallWrites } from './migrations/0003-small-writes.ts';
import { costs } from './migrations/0004-costs.ts';
import { answerChecksums } from './migrations/0005-answer-checksums.ts';
import { lastUse } from './migrations/0006-last-use.ts';
import { dailyCosts } from './migrations/0007-daily-costs.ts';
import { outbox } from './migrations/0008-outbox.ts';
import { traces } from './migrations/0009-traces.ts';
import { failures } from './migrations/0010-failures.ts';
import { waiting } from './migrations/0011-waiting.ts';
import { troubles } from './migrations/0012-troubles.ts';

/** `docs/ledger-schema.md` describes the schema and has to change with it. */
export const migrations = new Migrations([
  ...[
    initial,
    learntLimits,
    smallWrites,
    costs,
    answerChecksums,
    lastUse,
    dailyCosts,
    outbox,
    traces,
    failures,
    waiting,
    troubles,
  ],
]);

/** Brings the schema up to date, in one transaction. Returns the salt of this ledger. */
export function migrate(database: Database, path: string, locks: OwnerLocks): Uint8Array {
  if (schemaVersion(database, path) < migrations.newest) {
    database.exec('BEGIN IMMEDIATE');
    try {
      // Asked again under the lock: another process may have migrated it since.
      const from = schemaVersion(database, path);
      if (from > 0 && from < migrations.newest) requireUnused(locks.findAlive(database), path);
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

function advance(database: Database, from: number): void {
  if (from === 0) {
    database.exec('CREATE TABLE meta (key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID');
    database.prepare("INSERT INTO meta (key, value) VALUES ('salt', ?)").run(randomBytes(32));
  }
  database.exec(migrations.after(from));
  const put = database.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema', ?)");
  put.run(migrations.newest);
}

function schemaVersion(database: Database, path: string): number {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return 0;
  const hasMeta = tables.some((table) => (table as { name: string }).name === 'meta');
  const row = hasMeta && database.prepare("SELECT value FROM meta WHERE key = 'schema'").get();
  const version = row ? migrations.versionOf((row as { value: unknown }).value, path) : undefined;
  if (version !== undefined) return version;
  throw unusable(path, 'it is a database of another program. Choose another store.');
}
