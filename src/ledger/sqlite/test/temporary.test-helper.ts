import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import type { Ledger, OwnerId } from '../../ledger.ts';
import { type Database, loadDriver } from '../connection/driver.ts';
import { openSqliteLedger, type SqliteLedgerOptions } from '../connection/open-sqlite.ts';

const folders: string[] = [];
const ledgers: Ledger[] = [];
const paths = new WeakMap<Ledger, string>();

afterEach(closeTemporary);

/** Closes and removes everything; done after each test anyway. */
export async function closeTemporary(): Promise<void> {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()));
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'batchling-ledger-'));
  folders.push(folder);
  return folder;
}

/** A new ledger, or another connection to the one at `path`; closed after the test. */
export async function openTemporary(options: Partial<SqliteLedgerOptions> = {}): Promise<Ledger> {
  const path = options.path ?? join(temporaryFolder(), 'ledger.db');
  const ledger = await openSqliteLedger({ ...options, path });
  ledgers.push(ledger);
  paths.set(ledger, path);
  return ledger;
}

export async function query(path: string, sql: string): Promise<unknown[]> {
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(path, { timeout: 1_000 });
  try {
    return database.prepare(sql).all();
  } finally {
    database.close();
  }
}

/** Drops the owner's lock and nothing else, which is what the kernel does for a killed process. */
export async function killOwner(ledger: Ledger, owner: OwnerId): Promise<void> {
  const path = paths.get(ledger) as string;
  const rows = await query(path, `SELECT lock FROM owner WHERE id = ${owner}`);
  const { lock } = rows[0] as { lock: string };
  const file = join(`${path}.owners`, lock);
  const holder = globalThis as unknown as Record<symbol, Map<string, Database>>;
  const held = holder[Symbol.for('batchling.sqlite.locks')] as Map<string, Database>;
  held.get(file)?.close();
  held.delete(file);
}
