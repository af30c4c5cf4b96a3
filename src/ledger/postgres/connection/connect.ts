import { randomBytes } from 'node:crypto';
import { bestEffort, failureLog } from '../../best-effort.ts';
import type { Keep, LedgerOptions } from '../../ledger-options.ts';
import { parseAddress } from './address.ts';
import { type ClientConfig, type Driver, loadDriver, numbersAsNumbers } from './driver.ts';
import { Store } from './store.ts';

export interface ConnectOptions {
  readonly store: string;
  readonly keep?: Keep;
  readonly logger?: LedgerOptions['logger'];
  /** For tests; see `StoreSettings`. */
  readonly clock?: { now(): number };
  /** See `StoreSettings`. */
  readonly patience?: number;
  /** In place of the one that the URL names, in milliseconds. */
  readonly lease?: number;
}

export interface Connected {
  readonly driver: Driver;
  readonly config: ClientConfig;
  readonly schema: string;
  readonly shown: string;
  readonly lease: number;
  /** SQL that comes before any other of a connection. */
  readonly setUp: string;
  readonly channel: string;
  /** Tells our own notifications from those of others. */
  readonly name: string;
  readonly store: Store;
}

/** A restart or a failover takes minutes, and meanwhile callers can only wait. */
const PATIENCE_MILLISECONDS = 10 * 60_000;

const CONNECTIONS = 4;
const CONNECT_TIMEOUT = 10_000;
/** The share of a lease. A cut network is not noticed otherwise: no packet says that nothing comes any more. */
const QUERY_TIMEOUT = 1 / 2;
/** The share of a lease. A frozen process must not hold locks for long. */
const IDLE_IN_TRANSACTION = 1 / 4;

/** Nothing is sent to the server before the first statement. */
export async function connect(options: ConnectOptions): Promise<Connected> {
  const { keep = 'answers', clock, patience = PATIENCE_MILLISECONDS } = options;
  const { url, schema, shown, lease: named } = parseAddress(options.store);
  const { lease = named } = options;
  const log = failureLog(options.logger);
  const driver = await loadDriver();
  const config: ClientConfig = {
    connectionString: url,
    application_name: 'batchling',
    connectionTimeoutMillis: CONNECT_TIMEOUT,
    query_timeout: lease * QUERY_TIMEOUT,
    keepAlive: true,
    types: numbersAsNumbers(driver),
  };
  // Statements do not name the schema.
  const setUp = `SET search_path TO ${schema}; SET client_min_messages = warning;
    SET idle_in_transaction_session_timeout = ${Math.round(lease * IDLE_IN_TRANSACTION)}`;
  const pool = new driver.Pool({ ...config, max: CONNECTIONS, allowExitOnIdle: true });
  pool.on('connect', (client) => {
    // The statement under way fails, too; without a listener this would end the process.
    client.on('error', () => {});
    // It fails only with its connection, and then what comes next fails, too.
    void bestEffort(log, 'set up a connection', client.query(setUp), 'debug');
  });
  const name = randomBytes(9).toString('hex');
  const channel = `batchling_${schema}`;
  const store = new Store(pool, { shown, channel, name, keep, clock, patience, log });
  return { driver, config, schema, shown, lease, setUp, channel, name, store };
}
