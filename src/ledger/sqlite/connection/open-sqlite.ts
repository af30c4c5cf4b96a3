import { nextTurn } from '../../../concurrency/event-loop.ts';
import { failureLog } from '../../best-effort.ts';
import type { Ledger } from '../../ledger.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { unusable } from '../../sql/unusable.ts';
import { OwnerLocks } from '../owners/owner-locks.ts';
import { migrate } from '../schema/migrate.ts';
import { sqliteLedger } from '../sqlite-ledger.ts';
import { type Database, loadDriver } from './driver.ts';
import { retryBusy, Store } from './store.ts';
import { prepareStoreFile } from './store-files.ts';

export interface SqliteLedgerOptions extends LedgerOptions {
  readonly path: string;
  /** How long to wait for a lock of another process, in milliseconds. */
  readonly patience?: number;
}

/** Blocks the event loop, so it is short; `retryBusy` does the rest of the waiting. */
const BUSY_TIMEOUT_MILLISECONDS = 5;
const PATIENCE_MILLISECONDS = 30_000;

/** The ledger as one file, shared by all processes of a machine that name the same path. */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  const { clock = { now: Date.now }, keep = 'answers', patience = PATIENCE_MILLISECONDS } = options;
  const driver = await loadDriver();
  const path = prepareStoreFile(options.path);
  const open = () => new driver.DatabaseSync(path, { timeout: BUSY_TIMEOUT_MILLISECONDS });
  // Loading the library, opening, configuring and migrating take a turn of the event loop each.
  await nextTurn();
  const database = await retryBusy(path, patience, open);
  try {
    await retryBusy(path, patience, () => configure(database, path));
    // Answers that are not to be kept must not stay behind in free pages either.
    if (keep === 'none') database.exec('PRAGMA secure_delete = ON');
    await nextTurn();
    const locks = new OwnerLocks(driver, path);
    const salt = await retryBusy(path, patience, () => migrate(database, path, locks));
    await nextTurn();
    const store = new Store(database, {
      path,
      source: driver.source,
      now: () => clock.now(),
      keep,
      patience,
      warn: options.warn,
      log: failureLog(options.logger),
    });
    return sqliteLedger(store, locks, salt);
  } catch (error) {
    database.close();
    throw error;
  }
}

function configure(database: Database, path: string): void {
  // Only takes effect in an empty file, and only before the journal mode is set.
  database.exec('PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL');
  const row = database.prepare('PRAGMA journal_mode = WAL').get();
  if ((row as { journal_mode?: string }).journal_mode !== 'wal') {
    throw unusable(
      path,
      'its file system does not support the shared memory a ledger needs. ' +
        'Choose a store on a local disk.',
    );
  }
  database.exec(`
    PRAGMA synchronous = NORMAL;
    PRAGMA fullfsync = ON;
    PRAGMA wal_autocheckpoint = 0;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -32000;
  `);
}
