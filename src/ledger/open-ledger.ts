import { isDatabase } from '../store-address.ts';
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
    // Moments are the server's: the clocks of many machines do not agree.
    const { openPostgresLedger } = await import('./postgres/connection/open-postgres.ts');
    return openPostgresLedger({ store, ...(options.keep && { keep: options.keep }) });
  }
  const { openSqliteLedger } = await import('./sqlite/connection/open-sqlite.ts');
  return openSqliteLedger({ ...options, path: store });
}
