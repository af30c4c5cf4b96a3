import { loadDriver } from '../../src/ledger/sqlite/connection/driver.ts';

/** The owners of this ledger are gone from it, though their processes live. */
export async function loseOwners(store: string): Promise<void> {
  const { DatabaseSync } = await loadDriver();
  const database = new DatabaseSync(store, { timeout: 10_000 });
  database.exec('DELETE FROM owner');
  database.close();
}
