import { randomBytes } from 'node:crypto';
import type { Ledger } from '../../ledger.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { Owners } from '../owners/owners.ts';
import { postgresLedger } from '../postgres-ledger.ts';
import { migrate } from '../schema/migrate.ts';
import { parseAddress } from './address.ts';
import { type ClientConfig, type Driver, loadDriver, numbersAsNumbers } from './driver.ts';
import { Pulse } from './pulse.ts';
import { Store } from './store.ts';

export interface PostgresLedgerOptions extends Pick<LedgerOptions, 'keep'> {
  readonly store: string;
  /** For tests; see `StoreSettings`. */
  readonly clock?: { now(): number };
  /** Milliseconds. */
  readonly lease?: number;
  readonly patience?: number;
  readonly openPatience?: number;
}

/** An owner that was not heard of for this long is gone. */
const LEASE_MILLISECONDS = 120_000;
const BEATS_PER_LEASE = 6;

/** A restart or a failover takes minutes, and meanwhile callers can only wait. */
const PATIENCE_MILLISECONDS = 10 * 60_000;
/** Nobody waits for anything yet when a ledger is opened, and the address may be wrong. */
const OPEN_PATIENCE_MILLISECONDS = 10_000;

const CONNECTIONS = 4;
const CONNECT_TIMEOUT = 10_000;
/** A cut network is not noticed otherwise: no packet says that nothing comes any more. */
const QUERY_TIMEOUT = 60_000;
/** A frozen process must not hold locks for long. */
const IDLE_IN_TRANSACTION = 30_000;

/** The ledger in a database, shared by all machines that name the same one. */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<Ledger> {
  const { keep = 'answers', clock, lease = LEASE_MILLISECONDS } = options;
  const { patience = PATIENCE_MILLISECONDS, openPatience = OPEN_PATIENCE_MILLISECONDS } = options;
  const { url, schema, shown } = parseAddress(options.store);
  const driver = await loadDriver();
  const config = connectionConfig(driver, url);
  const pool = new driver.Pool({ ...config, max: CONNECTIONS, allowExitOnIdle: true });
  // Statements do not name the schema. This one comes before any other of a connection.
  const setUp = `SET search_path TO ${schema}; SET client_min_messages = warning;
    SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION}`;
  pool.on('connect', (client) => {
    // The statement under way fails, too; without a listener this would end the process.
    client.on('error', () => {});
    // It fails only with its connection, and then what comes next fails, too.
    client.query(setUp).catch(() => {});
  });
  const name = randomBytes(9).toString('hex');
  const channel = `batchling_${schema}`;
  const store = new Store(pool, { shown, channel, name, keep, clock, patience });
  try {
    const salt = await migrate(store, schema, openPatience);
    const owners = new Owners(store, lease);
    const pulse = new Pulse({
      client: () => new driver.Client(config),
      setUp,
      ...{ channel, name },
      every: lease / BEATS_PER_LEASE,
      beat: (client) => owners.renew(client),
    });
    return postgresLedger({ store, owners, pulse, salt });
  } catch (error) {
    await store.close();
    throw error;
  }
}

function connectionConfig(driver: Driver, url: string): ClientConfig {
  return {
    connectionString: url,
    application_name: 'batchling',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    query_timeout: QUERY_TIMEOUT,
    keepAlive: true,
    types: numbersAsNumbers(driver),
  };
}
