import { loadDriver } from '../connection/driver.ts';

/** Holds the write lock of a ledger, as another process would, until the returned function is called. */
export async function prepareLock(path: string): Promise<() => () => void> {
  const { DatabaseSync } = await loadDriver();
  return () => {
    const database = new DatabaseSync(path, { timeout: 0 });
    database.exec('BEGIN IMMEDIATE');
    return () => database.close();
  };
}
