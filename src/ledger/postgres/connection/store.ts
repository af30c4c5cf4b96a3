import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../../concurrency/backoff.ts';
import type { FailureLog } from '../../best-effort.ts';
import type { Keep } from '../../ledger-options.ts';
import { codeOf, unusable } from '../../sql/unusable.ts';
import { type Pool, type PoolClient, storable } from './driver.ts';
import { explainStoreError, type Remedy, remedyFor } from './store-errors.ts';

export interface StoreSettings {
  readonly shown: string;
  readonly channel: string;
  /** Tells our own notifications from those of others. */
  readonly name: string;
  readonly keep: Keep;
  /** Tests set the moments that are written; otherwise they are the server's. Leases always are. */
  readonly clock: { now(): number } | undefined;
  /** How long to wait for a server that is not there, in milliseconds. */
  readonly patience: number;
  readonly log: FailureLog;
}

/** How statements are run: one by one, or in a transaction. */
export interface Session {
  rows<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** How many rows the statement has changed. */
  run(sql: string, values?: readonly unknown[]): Promise<number>;
}

export interface Transaction extends Session {
  /** The moment at which the transaction began, in milliseconds since the epoch. */
  readonly now: number;
}

export interface WriteOptions {
  /** On the disk, with everything written before it, when the promise resolves. */
  readonly durable?: boolean;
  /** Wakes callers that wait in other processes. */
  readonly notify?: boolean;
  readonly patience?: number;
}

/** SQL: the server's time in milliseconds since the epoch. */
export const NOW = 'floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** How much goes to the server in one transaction. */
export const AT_ONCE = { rows: 1_000, characters: 4_000_000 };

const SOON_MILLISECONDS = 30_000;
const LONGEST_PAUSE = 10_000;

/** The connection was lost while the COMMIT was under way: the server knows whether it arrived. */
class LostCommit<T> {
  readonly transaction: string;
  readonly result: T;
  constructor(transaction: string, result: T) {
    this.transaction = transaction;
    this.result = result;
  }
}

/** The connections of one ledger, and how transactions run on them. */
export class Store {
  readonly shown: string;
  readonly keep: Keep;
  readonly log: FailureLog;
  readonly #pool: Pool;
  readonly #settings: StoreSettings;
  #closed = false;

  constructor(pool: Pool, settings: StoreSettings) {
    this.shown = settings.shown;
    this.keep = settings.keep;
    this.log = settings.log;
    this.#pool = pool;
    this.#settings = settings;
    // A connection that breaks while nobody uses it is replaced with the next use.
    pool.on('error', (error) => this.log('keep an idle connection', error, 'debug'));
  }

  /** The moment of a row, or what a test has set. */
  moment(server: number): number {
    return this.#settings.clock?.now() ?? server;
  }

  read<T>(work: (session: Session) => Promise<T>, patience?: number): Promise<T> {
    return this.persist(async () => {
      const client = await this.#pool.connect();
      try {
        const result = await work(sessionOn(client));
        client.release();
        return result;
      } catch (error) {
        client.release(isBroken(error));
        throw error;
      }
    }, patience);
  }

  /** One statement that reads. */
  rows<Row>(sql: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.read((session) => session.rows<Row>(sql, values));
  }

  /** `work` runs in one transaction; it may run again, as long as the transaction was not committed. */
  async write<T>(
    work: (transaction: Transaction) => Promise<T>,
    options: WriteOptions = {},
  ): Promise<T> {
    for (;;) {
      const done = await this.persist(() => this.#transaction(work, options), options.patience);
      if (!(done instanceof LostCommit)) return done;
      if (await this.#wasCommitted(done.transaction, options.patience)) return done.result;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#pool.end();
  }

  async #transaction<T>(
    work: (transaction: Transaction) => Promise<T>,
    { durable = false, notify = false }: WriteOptions,
  ): Promise<T | LostCommit<T>> {
    const client = await this.#pool.connect();
    let lost: LostCommit<T> | undefined;
    try {
      // Several statements in one text are one round trip.
      const begun = (await client.query(
        `BEGIN; SET LOCAL synchronous_commit = ${durable ? 'on' : 'off'};
         SELECT pg_current_xact_id()::text AS id, ${NOW} AS now`,
      )) as unknown as [unknown, unknown, { rows: [{ id: string; now: number }] }];
      const { id, now } = begun[2].rows[0];
      const result = await work({ ...sessionOn(client), now: this.moment(now) });
      lost = new LostCommit(id, result);
      await client.query(`${notify ? this.#notification() : ''}COMMIT`);
      client.release();
      return result;
    } catch (error) {
      const broken = isBroken(error);
      if (!broken) await client.query('ROLLBACK').catch(() => {});
      client.release(broken);
      if (broken && lost) return lost;
      throw error;
    }
  }

  #notification(): string {
    const { channel, name } = this.#settings;
    return `NOTIFY ${channel}, '${name}'; `;
  }

  async #wasCommitted(transaction: string, patience: number | undefined): Promise<boolean> {
    for (;;) {
      const status = await this.read(async (session) => {
        try {
          const [row] = await session.rows<{ status: string | null }>(
            'SELECT pg_xact_status($1::text::xid8) AS status',
            [transaction],
          );
          return row?.status;
        } catch (error) {
          // A server that took over has not come that far: the transaction was lost with the old one.
          if (codeOf(error) === '22023') return 'aborted';
          throw error;
        }
      }, patience);
      if (status !== 'in progress') return status === 'committed';
      await sleep(100);
    }
  }

  /** Tries again what fails because the server is away. */
  async persist<T>(work: () => Promise<T>, patience = this.#settings.patience): Promise<T> {
    let firstFailure: number | undefined;
    for (let attempt = 1; ; attempt += 1) {
      if (this.#closed) throw unusable(this.shown, 'it is closed.');
      try {
        return await work();
      } catch (error) {
        const remedy = remedyFor(error);
        if (attempt === 1) this.log('use the ledger at once', error, 'debug');
        firstFailure ??= performance.now();
        const waited = performance.now() - firstFailure;
        if (remedy === 'give-up' || waited >= longestWait(remedy, patience)) {
          throw explainStoreError(this.shown, error);
        }
        await sleep(pauseFor(remedy, attempt));
      }
    }
  }
}

function longestWait(remedy: Remedy, patience: number): number {
  return remedy === 'retry-soon' ? Math.min(SOON_MILLISECONDS, patience) : patience;
}

function pauseFor(remedy: Remedy, attempt: number): number {
  if (remedy === 'repeat') return 2 + Math.random() * 18 * attempt;
  return backoff({ attempt, base: 100, cap: LONGEST_PAUSE });
}

function isBroken(error: unknown): boolean {
  const remedy = remedyFor(error);
  // A read-only server may have been the primary before: the next connection may reach the new one.
  return remedy === 'reconnect' || remedy === 'retry-soon';
}

function sessionOn(client: PoolClient): Session {
  // Without values the text may hold several statements.
  const query = (sql: string, values?: readonly unknown[]) =>
    client.query(sql, values && storable(values));
  return {
    async rows<Row>(sql: string, values?: readonly unknown[]) {
      return (await query(sql, values)).rows as Row[];
    },
    async run(sql, values) {
      return (await query(sql, values)).rowCount ?? 0;
    },
  };
}
