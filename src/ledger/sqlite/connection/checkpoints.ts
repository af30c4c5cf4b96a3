import { type CheckpointMode, CheckpointThread, type ThreadOptions } from './checkpoint-thread.ts';
import type { Database } from './driver.ts';
import { nextTurn } from './slices.ts';

/** So much that most of the pages that are written again and again are copied once. */
const WORTH_A_STEP_MILLISECONDS = 50;
/** As little as can be copied at once without a thread. */
const WORTH_A_THREAD_MILLISECONDS = 8;

/**
 * Moves what was committed from the write-ahead log into the ledger file. SQLite would do it within a
 * COMMIT, which then takes tens of milliseconds, and longer where the disk answers late. Here it happens
 * in steps, in a thread of its own; a program that writes little has none, and no step before it closes.
 *
 * Nobody writes during a step, so it is complete, and the next COMMIT starts the log anew: it does not
 * grow. How long transactions took tells how much there is to copy: a row may be of any size, and SQLite
 * does not say how long the log is.
 */
export class Checkpoints {
  readonly #database: Database;
  readonly #options: ThreadOptions;
  #thread: CheckpointThread | undefined;
  #hasThreads = true;
  #written = 0;
  #underWay: Promise<void> | undefined;

  constructor(database: Database, options: ThreadOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** The step that the next transaction has to wait for. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay;
  }

  /** A transaction was committed, after so many milliseconds. */
  written(milliseconds: number): void {
    this.#written += milliseconds;
    if (this.#written >= WORTH_A_STEP_MILLISECONDS && !this.#underWay) void this.#step('FULL');
  }

  /** Empties the log, unless others read it. */
  async truncate(): Promise<void> {
    while (this.#underWay) await this.#underWay;
    await this.#step('TRUNCATE');
  }

  async close(): Promise<void> {
    await this.truncate();
    await this.#thread?.close();
  }

  #step(mode: CheckpointMode): Promise<void> {
    const needsThread = this.#written >= WORTH_A_THREAD_MILLISECONDS && this.#hasThreads;
    this.#written = 0;
    const step = this.#checkpoint(mode, needsThread).finally(() => {
      this.#underWay = undefined;
    });
    this.#underWay = step;
    return step;
  }

  async #checkpoint(mode: CheckpointMode, needsThread: boolean): Promise<void> {
    // Not in the turn of the transaction.
    await nextTurn();
    if (needsThread || this.#thread) {
      if (await this.#inThread(mode)) return;
      // Not every program may have threads.
      this.#hasThreads = false;
      this.#thread = undefined;
    }
    try {
      this.#database.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch {
      // The next write meets the same problem and reports it.
    }
  }

  async #inThread(mode: CheckpointMode): Promise<boolean> {
    try {
      this.#thread ??= await CheckpointThread.start(this.#options);
      return await this.#thread.checkpoint(mode);
    } catch {
      return false;
    }
  }
}
