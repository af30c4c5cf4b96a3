import type { Keep } from '../ledger-options.ts';
import { Checkpoints } from './checkpoints.ts';
import type { Database, Statement } from './driver.ts';
import { retryBusy } from './retry-busy.ts';
import { unusable } from './store-errors.ts';

export interface StoreSettings {
  readonly path: string;
  readonly now: () => number;
  readonly keep: Keep;
  /** How long to wait for another process's lock, in milliseconds. */
  readonly patience: number;
}

/** One connection to the ledger file, and how transactions run on it. */
export class Store {
  readonly path: string;
  readonly now: () => number;
  readonly keep: Keep;
  readonly #patience: number;
  readonly #database: Database;
  readonly #dataVersion: Statement;
  readonly #checkpoints: Checkpoints;
  #closed = false;
  #changes = 0;

  constructor(database: Database, settings: StoreSettings) {
    this.path = settings.path;
    this.now = settings.now;
    this.keep = settings.keep;
    this.#patience = settings.patience;
    this.#database = database;
    this.#dataVersion = database.prepare('PRAGMA data_version');
    this.#checkpoints = new Checkpoints(database);
  }

  prepare(sql: string): Statement {
    return this.#database.prepare(sql);
  }

  read<T>(work: () => T): Promise<T> {
    return this.#attempt(work);
  }

  /**
   * `work` runs in one transaction; it may run again when another process was in the way.
   * `durable`: on the disk, with everything written before it, when the promise resolves.
   * `patience`: see the settings; 0 tries once.
   */
  write<T>(
    work: () => T,
    { durable = false, patience = this.#patience }: { durable?: boolean; patience?: number } = {},
  ): Promise<T> {
    const attempt = () => {
      // SQLite ignores a change of `synchronous` inside a transaction.
      if (durable) this.#database.exec('PRAGMA synchronous = FULL');
      try {
        return this.#transaction(work);
      } finally {
        if (durable) this.#database.exec('PRAGMA synchronous = NORMAL');
      }
    };
    return this.#attempt(attempt, patience);
  }

  /** Outside of any transaction: pragmas that move pages. */
  maintain(sql: string): Promise<void> {
    return this.#attempt(() => this.#database.exec(sql));
  }

  /** Waiters should look again. */
  touch(): void {
    this.#changes += 1;
  }

  /** Grows with every `touch` here and every commit of another connection. */
  changed(): Promise<number> {
    return this.read(() => {
      const { data_version: others } = this.#dataVersion.get() as { data_version: number };
      return others + this.#changes;
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#checkpoints.close();
    // Best effort: while others read, the last one to close does it.
    await this.maintain('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => {});
    this.#closed = true;
    this.#database.close();
  }

  #attempt<T>(work: () => T, patience = this.#patience): Promise<T> {
    return retryBusy(this.path, patience, () => {
      if (this.#closed) throw unusable(this.path, 'it is closed.');
      return work();
    });
  }

  #transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    const startedAt = performance.now();
    try {
      const result = work();
      this.#database.exec('COMMIT');
      this.#checkpoints.written(performance.now() - startedAt);
      return result;
    } catch (error) {
      this.#rollback();
      throw error;
    }
  }

  #rollback(): void {
    try {
      this.#database.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself, as it does when the disk is full.
    }
  }
}
