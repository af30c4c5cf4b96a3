import { isMissing } from '../base/is-missing.ts';
import { isDatabase } from '../base/store-address.ts';
import type { Ledger } from './ledger.ts';
import type { LedgerOptions } from './ledger-options.ts';

/**
 * Opens the ledger that the text of `store` names: `:memory:`, `postgres://…`, or else the path of a
 * file. A concrete ledger is loaded when it is opened: no program needs two kinds.
 */
export async function openLedger(store: string, options: LedgerOptions = {}): Promise<Ledger> {
  if (store === ':memory:') {
    const { openMemoryLedger } = await import('./memory/memory-ledger.ts');
    return openMemoryLedger(options);
  }
  if (isDatabase(store)) {
    const { openPostgresLedger } = await import('./postgres/connection/open-postgres.ts');
    return openPostgresLedger(databaseOptions(store, options));
  }
  const { openSqliteLedger } = await import('./sqlite/connection/open-sqlite.ts');
  return openSqliteLedger({ ...options, path: store });
}

/** The ledger that is there. `undefined`: there is none yet, and none is made. */
export async function openExistingLedger(
  store: string,
  options: LedgerOptions = {},
): Promise<Ledger | undefined> {
  if (isDatabase(store)) {
    const { openExistingPostgresLedger } = await import('./postgres/connection/open-postgres.ts');
    return openExistingPostgresLedger(databaseOptions(store, options));
  }
  return store === ':memory:' || isMissing(store) ? undefined : openLedger(store, options);
}

/** Moments are the server's: the clocks of many machines do not agree. */
function databaseOptions(store: string, { keep, logger }: LedgerOptions) {
  return { store, ...(keep && { keep }), ...(logger && { logger }) };
}
