import pg from 'pg';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Ledger, OwnerId } from '../../ledger.ts';
import type { LedgerOptions } from '../../ledger-options.ts';
import { openPostgresLedger, type PostgresLedgerOptions } from '../connection/open-postgres.ts';
import { type HeldLocks, holdLocks } from './hold-locks.test-helper.ts';
import { startServer, type TestServer } from './server.test-helper.ts';

export type TemporaryOptions = LedgerOptions & Partial<PostgresLedgerOptions>;

let schemas = 0;

/** All but `meta`. */
const TABLES =
  'owner account queue learnt_limit request body answer batch run_count run_cost daily_cost outbox'.split(
    ' ',
  );

/**
 * One server for all tests of a file, and a schema for each ledger. Making a schema takes ten times as long as
 * emptying one, so that the ledgers of a test get the schemas of the test before.
 */
export function usePostgres() {
  let server: TestServer | undefined;
  let url = process.env.BATCHLING_TEST_POSTGRES;
  let administrator: pg.Client | undefined;
  const stores = new Map<Ledger, string>();
  const made = new Set<string>();
  const empty: string[] = [];
  const held: HeldLocks[] = [];

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
  /** A schema from which much was deleted is slow to read. */
  const isEmptied = async (schema: string): Promise<boolean> => {
    const sql = TABLES.map((table) => `DELETE FROM ${schema}.${table}`).join(';');
    const deleted = (await (administrator as pg.Client).query(sql)) as unknown as pg.QueryResult[];
    return deleted.every(({ rowCount }) => (rowCount ?? 0) < 1_000);
  };
  /** Done after each test anyway. */
  const closeAll = async () => {
    for (const locks of held.splice(0)) await locks.release();
    const used = new Set(stores.values());
    const ledgers = [...stores.keys()];
    stores.clear();
    await Promise.all(ledgers.map((ledger) => ledger.close()));
    for (const store of used) if (await isEmptied(schemaOf(store))) empty.push(store);
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
      const store = options.store ?? empty.pop() ?? newStore();
      const ledger = await openPostgresLedger({ ...options, store });
      stores.set(ledger, store);
      return ledger;
    },
    /** Another session, which runs this SQL in a transaction and keeps its locks until they are released. */
    async hold(store: string, sql: string): Promise<HeldLocks> {
      const begun = `SET search_path TO ${schemaOf(store)}; BEGIN; ${sql}`;
      const locks = await holdLocks(url as string, begun);
      held.push(locks);
      return locks;
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
