import { randomBytes } from 'node:crypto';
import { Migrations, requireUnused } from '../../sql/migrations.ts';
import { codeOf, unusable } from '../../sql/unusable.ts';
import type { Session, Store, Transaction } from '../connection/store.ts';
import { findAlive } from '../owners/alive.ts';
import { initial } from './migrations/0001-initial.ts';
import { lastUse } from './migrations/0002-last-use.ts';
import { dailyCosts } from './migrations/0003-daily-costs.ts';
import { outbox } from './migrations/0004-outbox.ts';
import { traces } from './migrations/0005-traces.ts';
import { failures } from './migrations/0006-failures.ts';
import { waiting } from './migrations/0007-waiting.ts';
import { troubles } from './migrations/0008-troubles.ts';

interface Place {
  readonly store: Store;
  readonly schema: string;
}

/** `docs/ledger-schema.md` describes the schema and has to change with it. */
export const migrations = new Migrations([
  ...[initial, lastUse, dailyCosts, outbox, traces, failures],
  waiting,
  troubles,
]);

/** Whether the schema holds a ledger. Changes nothing. */
export async function isThere({ store, schema }: Place, patience: number): Promise<boolean> {
  return (await store.read((session) => schemaVersion(session, store, schema), patience)) > 0;
}

/** Brings the schema up to date, in one transaction. Returns the salt of this ledger. */
export async function migrate({ store, schema }: Place, patience: number): Promise<Uint8Array> {
  const { newest } = migrations;
  const version = await store.read((session) => schemaVersion(session, store, schema), patience);
  if (version < newest) {
    const advanceAlone = async (transaction: Transaction) => {
      // Two processes that open a new ledger at once: one makes it, the other one waits.
      await transaction.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `batchling.${schema}`,
      ]);
      const from = await schemaVersion(transaction, store, schema);
      if (from > 0 && from < newest) requireUnused(await findAlive(transaction), store.shown);
      if (from < newest) await advance(transaction, schema, from);
    };
    await store.write(advanceAlone, { durable: true, patience });
  }
  const [row] = await store.read(
    (session) => session.rows<{ value: Uint8Array }>("SELECT value FROM meta WHERE key = 'salt'"),
    patience,
  );
  return (row as { value: Uint8Array }).value;
}

async function advance(session: Session, schema: string, from: number): Promise<void> {
  if (from === 0) {
    await session.run(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await session.run('CREATE TABLE meta (key text PRIMARY KEY, value bytea NOT NULL)');
    await session.run("INSERT INTO meta (key, value) VALUES ('salt', $1)", [randomBytes(32)]);
  }
  await session.run(migrations.after(from));
  await session.run(
    `INSERT INTO meta (key, value) VALUES ('schema', $1)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [Buffer.from(String(migrations.newest))],
  );
}

/** 0: there is no ledger in this schema yet. */
async function schemaVersion(session: Session, store: Store, schema: string): Promise<number> {
  const [found] = await session.rows<{ has_meta: boolean; has_any: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'meta') AS has_meta,
       EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = $1) AS has_any`,
    [schema],
  );
  if (!found?.has_any) return 0;
  const stored = found.has_meta ? await storedVersion(session) : undefined;
  const version = migrations.versionOf(stored, store.shown);
  if (version !== undefined) return version;
  throw unusable(
    store.shown,
    `the schema "${schema}" holds tables of another program. Choose another one with ?schema=`,
  );
}

async function storedVersion(session: Session): Promise<string | undefined> {
  try {
    const [row] = await session.rows<{ value: Uint8Array }>(
      "SELECT value FROM meta WHERE key = 'schema'",
    );
    return row && Buffer.from(row.value).toString();
  } catch (error) {
    // The columns of another program's table.
    if (codeOf(error) === '42703') return undefined;
    throw error;
  }
}
