import { type Database, type Driver, loadDriver } from '../connection/driver.ts';
import { retryBusy } from '../connection/store.ts';
import { prepareStoreFile } from '../connection/store-files.ts';
import { OwnerLocks } from '../owners/owner-locks.ts';
import { migrate } from '../schema/migrate.ts';

/** For what takes minutes: nobody else should have to wait that long for a lock of ours. */
const PATIENCE_MILLISECONDS = 5_000;

export interface OpenFile {
  readonly path: string;
  readonly database: Database;
  readonly locks: OwnerLocks;
  readonly salt: Uint8Array;
  /** Undoes what was not committed. */
  close(): Promise<void>;
}

/** A ledger file with the newest schema, whose write lock is ours until it is closed. */
export async function openLocked(
  file: string,
  configure: (database: Database) => void,
): Promise<OpenFile> {
  const driver: Driver = await loadDriver();
  const path = prepareStoreFile(file);
  const locks = new OwnerLocks(driver, path);
  const attempt = <T>(work: () => T) => retryBusy(path, PATIENCE_MILLISECONDS, work);
  const database = await attempt(() => new driver.DatabaseSync(path, { timeout: 5 }));
  try {
    await attempt(() => configure(database));
    const salt = await attempt(() => migrate(database, path, locks));
    await attempt(() => database.exec('BEGIN IMMEDIATE'));
    return { path, database, locks, salt, close: async () => closeAndUndo(database) };
  } catch (error) {
    database.close();
    throw error;
  }
}

/** A connection that is closed may keep its transaction for as long as one of its statements lives. */
function closeAndUndo(database: Database): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // It was committed, or SQLite has undone it by itself.
  }
  database.close();
}
