import type { Keep } from '../ledger-options.ts';
import type { Database, Statement } from './driver.ts';
import { retryBusy } from './retry-busy.ts';
import { unusable } from './store-errors.ts';

const IDLE_MILLISECONDS = 250;
const WRITES_WORTH_A_CHECKPOINT = 20;

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
  #closed = false;
  #changes = 0;
  #writesSinceCheckpoint = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(database: Database, settings: StoreSettings) {
    this.path = settings.path;
    this.now = settings.now;
    this.keep = settings.keep;
    this.#patience = settings.patience;
    this.#database = database;
    this.#dataVersion = database.prepare('PRAGMA data_version');
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
   */
  async write<T>(work: () => T, { durable = false } = {}): Promise<T> {
    const result = await this.#attempt(() => {
      // SQLite ignores a change of `synchronous` inside a transaction.
      if (durable) this.#database.exec('PRAGMA synchronous = FULL');
      try {
        return this.#transaction(work);
      } finally {
        if (durable) this.#database.exec('PRAGMA synchronous = NORMAL');
      }
    });
    this.#checkpointWhenIdle();
    return result;
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
    clearTimeout(this.#idleTimer);
    // Best effort: while others read, the last one to close does it.
    await this.maintain('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => {});
    this.#closed = true;
    this.#database.close();
  }

  #attempt<T>(work: () => T): Promise<T> {
    return retryBusy(this.path, this.#patience, () => {
      if (this.#closed) throw unusable(this.path, 'it is closed.');
      return work();
    });
  }

  #transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
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

  /**
   * A checkpoint takes tens of milliseconds. Done in a pause it is in nobody's way; the automatic one
   * is only there for programs that never pause.
   */
  #checkpointWhenIdle(): void {
    this.#writesSinceCheckpoint += 1;
    if (this.#writesSinceCheckpoint < WRITES_WORTH_A_CHECKPOINT) return;
    if (this.#idleTimer) {
      this.#idleTimer.refresh();
      return;
    }
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined;
      if (this.#closed) return;
      this.#writesSinceCheckpoint = 0;
      try {
        this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
      } catch {
        // The next write meets the same problem and reports it.
      }
    }, IDLE_MILLISECONDS).unref();
  }
}
