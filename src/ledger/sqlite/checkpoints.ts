import type { Database } from './driver.ts';

/** About as much as a checkpoint copies within a few milliseconds. */
const WRITING_WORTH_A_STEP_MILLISECONDS = 8;
const IDLE_MILLISECONDS = 250;

/**
 * Moves what was committed from the write-ahead log into the ledger file. SQLite would do it within a
 * COMMIT, which then takes tens of milliseconds; here it happens in small steps of their own, between
 * transactions and in pauses. After a complete step the next COMMIT starts the log anew, so it does
 * not grow.
 *
 * How long transactions took tells how much there is to copy: a row may be of any size, and SQLite
 * does not say how long the log is.
 */
export class Checkpoints {
  readonly #database: Database;
  #written = 0;
  #step: NodeJS.Immediate | undefined;
  #pause: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A transaction was committed, after so many milliseconds. */
  written(milliseconds: number): void {
    this.#written += milliseconds;
    if (this.#written >= WRITING_WORTH_A_STEP_MILLISECONDS) {
      this.#step ??= setImmediate(() => this.#run());
    } else if (this.#pause) {
      this.#pause.refresh();
    } else {
      this.#pause = setTimeout(() => this.#run(), IDLE_MILLISECONDS).unref();
    }
  }

  close(): void {
    this.#closed = true;
    clearImmediate(this.#step);
    clearTimeout(this.#pause);
  }

  #run(): void {
    this.#step = undefined;
    if (this.#closed || this.#written === 0) return;
    this.#written = 0;
    try {
      this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // The next write meets the same problem and reports it.
    }
  }
}
