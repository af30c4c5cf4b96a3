import { randomBytes } from 'node:crypto';
import { BatchlingError } from '../../../base/errors.ts';
import type { Session, Store, Transaction } from '../connection/store.ts';
import { unusable } from '../connection/store-errors.ts';
import { ALIVE } from '../owners/alive.ts';
import { initial } from './migrations/0001-initial.ts';
import { lastUse } from './migrations/0002-last-use.ts';
import type { Migration } from './migrations/migration.ts';

interface Place {
  readonly store: Store;
  readonly schema: string;
}

/** `docs/ledger.md` describes the schema and has to change with it. */
export const migrations: readonly Migration[] = [initial, lastUse];
const newest = migrations.at(-1)?.version ?? 0;

/** Whether the schema holds a ledger. Changes nothing. */
export async function isThere({ store, schema }: Place, patience: number): Promise<boolean> {
  return (await store.read((session) => schemaVersion(session, store, schema), patience)) > 0;
}

/** Brings the schema up to date, in one transaction. Returns the salt of this ledger. */
export async function migrate({ store, schema }: Place, patience: number): Promise<Uint8Array> {
  const version = await store.read((session) => schemaVersion(session, store, schema), patience);
  if (version < newest) {
    const advanceAlone = async (transaction: Transaction) => {
      // Two processes that open a new ledger at once: one makes it, the other one waits.
      await transaction.run('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [
        `batchling.${schema}`,
      ]);
      const from = await schemaVersion(transaction, store, schema);
      if (from > 0 && from < newest) await requireUnused(transaction, store);
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

/**
 * A program that knows only the old schema would go on with its own statements: newer programs would not
 * find its requests, and would pay for them again.
 */
async function requireUnused(session: Session, store: Store): Promise<void> {
  const [alive] = await session.rows<{ host: string; pid: number }>(
    `SELECT host, pid FROM owner WHERE ${ALIVE} LIMIT 1`,
  );
  if (!alive) return;
  throw unusable(
    store.shown,
    `process ${alive.pid} on ${alive.host} works with it and uses an older version of batchling. ` +
      'Run again when that one has ended, or choose another store.',
  );
}

async function advance(session: Session, schema: string, from: number): Promise<void> {
  if (from === 0) {
    await session.run(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await session.run('CREATE TABLE meta (key text PRIMARY KEY, value bytea NOT NULL)');
    await session.run("INSERT INTO meta (key, value) VALUES ('salt', $1)", [randomBytes(32)]);
  }
  for (const migration of migrations) {
    if (migration.version > from) await session.run(migration.sql);
  }
  await session.run(
    `INSERT INTO meta (key, value) VALUES ('schema', $1)
     ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    [Buffer.from(String(newest))],
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
  const version = found.has_meta ? await storedVersion(session) : undefined;
  if (version === undefined) {
    throw unusable(
      store.shown,
      `the schema "${schema}" holds tables of another program. Choose another one with ?schema=`,
    );
  }
  if (version <= newest) return version;
  throw new BatchlingError(
    'STORE_NEWER',
    `The ledger ${store.shown} was written by a newer batchling: it has schema ${version}, this one knows ` +
      `schemas up to ${newest}. Update batchling, or choose another store.`,
    { facts: { store: store.shown, schema: version, known: newest } },
  );
}

async function storedVersion(session: Session): Promise<number | undefined> {
  try {
    const [row] = await session.rows<{ value: Uint8Array }>(
      "SELECT value FROM meta WHERE key = 'schema'",
    );
    const version = Number(row && Buffer.from(row.value).toString());
    return Number.isInteger(version) && version > 0 ? version : undefined;
  } catch (error) {
    // The columns of another program's table.
    if (error instanceof Error && 'code' in error && error.code === '42703') return undefined;
    throw error;
  }
}
