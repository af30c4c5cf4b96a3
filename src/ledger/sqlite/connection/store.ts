import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FailureLog } from '../../best-effort.ts';
import type { Keep, LedgerOptions } from '../../ledger-options.ts';
import { unusable } from '../../sql/unusable.ts';
import { Checkpoints } from './checkpoints.ts';
import { type Database, lazyStatement, type Statement } from './driver.ts';
import { damageIn, explainStoreError, isBusy } from './store-errors.ts';

export interface StoreSettings {
  readonly path: string;
  /** See `Driver`. */
  readonly source: string;
  readonly now: () => number;
  readonly keep: Keep;
  /** How long to wait for another process's lock, in milliseconds. */
  readonly patience: number;
  readonly warn: LedgerOptions['warn'];
  readonly log: FailureLog;
}

interface WriteOptions {
  /** On the disk, with everything written before it, when the promise resolves. */
  readonly durable?: boolean;
  /** See the settings; 0 tries once. */
  readonly patience?: number;
}

/** One connection to the ledger file, and how transactions run on it. */
export class Store {
  readonly path: string;
  readonly now: () => number;
  readonly keep: Keep;
  readonly log: FailureLog;
  readonly #patience: number;
  readonly #warn: LedgerOptions['warn'];
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
    this.log = settings.log;
    this.#patience = settings.patience;
    this.#warn = settings.warn;
    this.#database = database;
    this.#dataVersion = database.prepare('PRAGMA data_version');
    this.#checkpoints = new Checkpoints(database, settings);
  }

  prepare(sql: string): Statement {
    return lazyStatement(this.#database, sql);
  }

  read<T>(work: () => T): Promise<T> {
    return this.#attempt(work);
  }

  /** `work` runs in one transaction; it may run again after waiting for another process. */
  async write<T>(
    work: () => T,
    { durable = false, patience = this.#patience }: WriteOptions = {},
  ): Promise<T> {
    while (this.#checkpoints.underWay) await this.#checkpoints.underWay;
    const result = await this.#attempt(() => this.#transaction(work), patience);
    if (durable) await this.#sync();
    return result;
  }

  /** Runs a pragma that moves pages, outside of any transaction. */
  async maintain(sql: string): Promise<void> {
    while (this.#checkpoints.underWay) await this.#checkpoints.underWay;
    return this.#attempt(() => this.#database.exec(sql));
  }

  /** Empties the write-ahead log. Best effort: while others read it, the last one to close does it. */
  truncateLog(): Promise<void> {
    return this.#checkpoints.truncate();
  }

  tellDamaged(): void {
    this.#warn?.(damageIn(this.path));
  }

  /** Makes `changed` differ: callers that wait for answers look again. */
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
   * SQLite does this within a COMMIT when `synchronous` is FULL, where it blocks the event loop. A
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

/**
 * SQLite's own busy timeout blocks the event loop, so it is kept to a few milliseconds and the rest of
 * the waiting is done here. Jittered: two processes that met once should not meet again.
 */
export async function retryBusy<T>(path: string, patience: number, work: () => T): Promise<T> {
  const giveUpAt = performance.now() + patience;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw explainStoreError(path, error);
      if (performance.now() >= giveUpAt) {
        throw unusable(
          path,
          `another process has held its lock for ${Math.round(patience / 1000)} s. ` +
            'End that process (or the tool that has the file open), or choose another store.',
          error,
        );
      }
    }
    await sleep(2 + Math.random() * 18);
  }
}
