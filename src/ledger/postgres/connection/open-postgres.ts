import type { Ledger } from '../../ledger.ts';
import { closedOnError } from '../../sql/closed-on-error.ts';
import { Owners } from '../owners/owners.ts';
import { postgresLedger } from '../postgres-ledger.ts';
import { isThere, migrate } from '../schema/migrate.ts';
import { type Connected, type ConnectOptions, connect } from './connect.ts';
import { Pulse } from './pulse.ts';

export interface PostgresLedgerOptions extends ConnectOptions {
  /** How long to wait for the server when the ledger is opened, in milliseconds. */
  readonly openPatience?: number;
}

const BEATS_PER_LEASE = 6;

/** Nobody waits for anything yet when a ledger is opened, and the address may be wrong. */
const OPEN_PATIENCE_MILLISECONDS = 10_000;

/** The ledger in a database, shared by all machines that name the same one. */
export async function openPostgresLedger(options: PostgresLedgerOptions): Promise<Ledger> {
  const connected = await connect(options);
  return closedOnError(
    () => connected.store.close(),
    () => openOn(connected, options),
  );
}

/** `undefined`: the database holds none, and none is made. */
export async function openExistingPostgresLedger(
  options: PostgresLedgerOptions,
): Promise<Ledger | undefined> {
  const connected = await connect(options);
  return closedOnError(
    () => connected.store.close(),
    async () => {
      const { openPatience = OPEN_PATIENCE_MILLISECONDS } = options;
      if (await isThere(connected, openPatience)) return openOn(connected, options);
      await connected.store.close();
      return undefined;
    },
  );
}

async function openOn(connected: Connected, options: PostgresLedgerOptions): Promise<Ledger> {
  const { openPatience = OPEN_PATIENCE_MILLISECONDS } = options;
  const { driver, config, lease, setUp, channel, name, store } = connected;
  const salt = await migrate(connected, openPatience);
  const owners = new Owners(store, lease);
  const pulse = new Pulse({
    client: () => new driver.Client(config),
    setUp,
    channel,
    name,
    every: lease / BEATS_PER_LEASE,
    log: store.log,
    beat: (client) => owners.renew(client),
  });
  return postgresLedger({ store, owners, pulse, salt });
}
