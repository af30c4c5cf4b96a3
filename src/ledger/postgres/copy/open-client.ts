import { type Connected, type ConnectOptions, connect } from '../connection/connect.ts';
import { type Client, storable } from '../connection/driver.ts';
import { explainStoreError } from '../connection/store-errors.ts';

export interface CopyConnection extends Connected {
  /** For one long transaction: what breaks it undoes all of it. */
  readonly client: Client;
  query<R>(sql: string, values?: readonly unknown[]): Promise<R[]>;
  close(): Promise<void>;
}

const PATIENCE_MILLISECONDS = 10_000;

/** `prepare` runs on connections of its own, before the transaction begins. */
export async function openClient(
  options: Pick<ConnectOptions, 'store'>,
  prepare: (connected: Connected, patience: number) => Promise<void>,
): Promise<CopyConnection> {
  const connected = await connect({ ...options, patience: PATIENCE_MILLISECONDS });
  const { driver, config, setUp, shown, store } = connected;
  // Indexes of a large ledger take long to walk through.
  const client = new driver.Client({ ...config, query_timeout: 0 });
  // The statement under way fails, too; without a listener this would end the process.
  client.on('error', () => {});
  const close = async () => {
    await client.end().catch(() => {});
    await store.close();
  };
  const query = async <R>(sql: string, values?: readonly unknown[]): Promise<R[]> => {
    try {
      return (await client.query(sql, values && storable(values))).rows as R[];
    } catch (error) {
      throw explainStoreError(shown, error);
    }
  };
  try {
    await prepare(connected, PATIENCE_MILLISECONDS);
    await client.connect();
    // The other end of the copy may take its time.
    await query(`${setUp}; SET idle_in_transaction_session_timeout = 0`);
    return { ...connected, client, query, close };
  } catch (error) {
    await close();
    throw explainStoreError(shown, error);
  }
}
