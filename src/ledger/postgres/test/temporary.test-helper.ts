import pg from 'pg';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Ledger, OwnerId } from '../../ledger.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from '../connection/open-postgres.ts';
import { startServer, type TestServer } from './server.test-helper.ts';

export type TemporaryOptions = LedgerOptions & Partial<PostgresLedgerOptions>;

let schemas = 0;

/** One server for all tests of a file, and a schema for each ledger. */
export function usePostgres() {
  let server: TestServer | undefined;
  let url = process.env.BATCHLING_TEST_POSTGRES;
  let administrator: pg.Client | undefined;
  const stores = new Map<Ledger, string>();
  const made = new Set<string>();

  beforeAll(async () => {
    if (url === undefined) {
      server = await startServer();
      url = server.url;
    }
    administrator = new pg.Client({ connectionString: url });
    await administrator.connect();
    await administrator.query('SET client_min_messages = warning');
  });
  afterAll(async () => {
    // Our own server is removed with all of them.
    if (!server) for (const schema of made) await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await administrator?.end();
    await server?.remove();
  });

  const query = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await (administrator as pg.Client).query(sql)).rows;
  /** Done after each test anyway. */
  const closeAll = async () => {
    const ledgers = [...stores.keys()];
    stores.clear();
    await Promise.all(ledgers.map((ledger) => ledger.close()));
  };
  afterEach(closeAll);

  /** The address of a new schema. */
  const newStore = (): string => {
    schemas += 1;
    const address = new URL(url as string);
    const schema = `test_${process.pid}_${schemas}`;
    made.add(schema);
    address.searchParams.set('schema', schema);
    return address.href;
  };
  return {
    query,
    closeAll,
    newStore,
    schemaOf,
    /** A new ledger, or another connection to the one at `store`. */
    async open(options: TemporaryOptions = {}): Promise<Ledger> {
      const store = options.store ?? newStore();
      const ledger = await openPostgresLedger({ ...options, store });
      stores.set(ledger, store);
      return ledger;
    },
    /** Ends the owner's lease and nothing else, which is what happens to a process that is killed. */
    async kill(ledger: Ledger, owner: OwnerId): Promise<void> {
      const schema = schemaOf(stores.get(ledger) as string);
      await query(`UPDATE ${schema}.owner SET lease_until = '-infinity' WHERE id = ${owner}`);
    },
  };
}

function schemaOf(store: string): string {
  return new URL(store).searchParams.get('schema') ?? 'batchling';
}
