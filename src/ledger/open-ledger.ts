import { BatchlingError } from '../errors.ts';
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
  if (/^postgres(ql)?:/i.test(store)) {
    // Nothing of the URL is shown: it may hold a password.
    throw new BatchlingError(
      'NOT_AVAILABLE',
      'A ledger in PostgreSQL arrives later. Use the path of a file, or ":memory:".',
    );
  }
  const { openSqliteLedger } = await import('./sqlite/connection/open-sqlite.ts');
  return openSqliteLedger({ ...options, path: store });
}
