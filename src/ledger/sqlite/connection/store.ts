import { type FileHandle, open } from 'node:fs/promises';
import type { Keep } from '../../ledger-options.ts';
import { Checkpoints } from './checkpoints.ts';
import type { Database, Statement } from './driver.ts';
import { LateStatement } from './late-statement.ts';
import type { Pace } from './pace.ts';
import { retryBusy } from './retry-busy.ts';
import { explainStoreError, unusable } from './store-errors.ts';

export interface StoreSettings {
  readonly path: string;
  /** See `Driver`. */
  readonly source: string;
  readonly now: () => number;
  readonly keep: Keep;
  /** How long to wait for another process's lock, in milliseconds. */
  readonly patience: number;
}

interface WriteOptions {
  /** On the disk, with everything written before it, when the promise resolves. */
  readonly durable?: boolean;
  /** See the settings; 0 tries once. */
  readonly patience?: number;
  /** Is told how long it took, for so many rows. */
  readonly pace?: Pace;
  readonly rows?: number;
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
  /** The write-ahead log, once something had to be on the disk. */
  #log: Promise<FileHandle> | undefined;
  #closed = false;
  #changes = 0;

  constructor(database: Database, settings: StoreSettings) {
    this.path = settings.path;
    this.now = settings.now;
    this.keep = settings.keep;
    this.#patience = settings.patience;
    this.#database = database;
    this.#dataVersion = database.prepare('PRAGMA data_version');
    const { path, source } = settings;
    this.#checkpoints = new Checkpoints(database, { path, source });
  }

  prepare(sql: string): Statement {
    return new LateStatement(this.#database, sql);
  }

  /** `pace`: is told how long it took. */
  read<T>(work: () => T, { pace }: { pace?: Pace } = {}): Promise<T> {
    return this.#attempt(() => timed(work, pace));
  }

  /** `work` runs in one transaction; it may run again when another process was in the way. */
  async write<T>(
    work: () => T,
    { durable = false, patience = this.#patience, pace, rows }: WriteOptions = {},
  ): Promise<T> {
    while (this.#checkpoints.underWay) await this.#checkpoints.underWay;
    const attempt = () => timed(() => this.#transaction(work), pace, rows);
    const result = await this.#attempt(attempt, patience);
    if (durable) await this.#sync();
    return result;
  }

  /** Outside of any transaction: pragmas that move pages. */
  async maintain(sql: string, { pace }: { pace?: Pace } = {}): Promise<void> {
    while (this.#checkpoints.underWay) await this.#checkpoints.underWay;
    return this.#attempt(() => timed(() => this.#database.exec(sql), pace));
  }

  /** Empties the write-ahead log. Best effort: while others read, the last one to close does it. */
  truncateLog(): Promise<void> {
    return this.#checkpoints.truncate();
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
    await this.#checkpoints.close();
    this.#closed = true;
    await (await this.#log?.catch(() => undefined))?.close();
    this.#database.close();
  }

  #attempt<T>(work: () => T, patience = this.#patience): Promise<T> {
    return retryBusy(this.path, patience, () => {
      if (this.#closed) throw unusable(this.path, 'it is closed.');
      return work();
    });
  }

  /**
   * What SQLite does within a COMMIT when `synchronous` is FULL, where it blocks the event loop. A
   * checkpoint that comes in between syncs both files itself. SQLite has no lock on this file that
   * closing it could drop.
   */
  async #sync(): Promise<void> {
    try {
      this.#log ??= open(`${this.path}-wal`, 'r+').catch((error: unknown) => {
        this.#log = undefined;
        throw error;
      });
      await (await this.#log).datasync();
    } catch (error) {
      throw explainStoreError(this.path, error);
    }
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

function timed<T>(work: () => T, pace: Pace | undefined, rows?: number): T {
  const startedAt = performance.now();
  const result = work();
  pace?.took(performance.now() - startedAt, rows);
  return result;
}
