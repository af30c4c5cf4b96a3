import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { FailureLog } from '../../best-effort.ts';
import { type CheckpointMode, CheckpointThread } from './checkpoint-thread.ts';
import type { Database } from './driver.ts';

interface CheckpointOptions {
  readonly path: string;
  /** See `Driver`. */
  readonly source: string;
  readonly log: FailureLog;
}

/** So much that most of the pages that are written again and again are copied once. */
const STEP_MILLISECONDS = 50;

/**
 * Moves committed pages from the write-ahead log into the ledger file. SQLite would do it within a
 * COMMIT and wait for the disk there, which was seen to block the event loop for 80 ms. Here it happens
 * in steps, in a thread of its own. Starting that thread costs more CPU than copying what is left at the end, so a program that
 * writes little has none, and one step on the main thread when it closes.
 *
 * This connection does not write during a step, so the step is complete, and the next COMMIT starts the
 * log anew: it does not grow. How long transactions took tells how much there is to copy: a row may be
 * of any size, and SQLite does not say how long the log is.
 */
export class Checkpoints {
  readonly #database: Database;
  readonly #options: CheckpointOptions;
  #thread: CheckpointThread | undefined;
  #hasThreads = true;
  #written = 0;
  #underWay: Promise<void> | undefined;

  constructor(database: Database, options: CheckpointOptions) {
    this.#database = database;
    this.#options = options;
  }

  /** The step that the next transaction has to wait for. */
  get underWay(): Promise<void> | undefined {
    return this.#underWay;
  }

  /** A transaction was committed after so many milliseconds. */
  written(milliseconds: number): void {
    this.#written += milliseconds;
    if (this.#written >= STEP_MILLISECONDS && !this.#underWay) void this.#step('FULL');
  }

  /** Empties the log, unless another process reads it. */
  async truncate(): Promise<void> {
    while (this.#underWay) await this.#underWay;
    await this.#step('TRUNCATE');
  }

  async close(): Promise<void> {
    await this.truncate();
    await this.#thread?.close();
  }

  #step(mode: CheckpointMode): Promise<void> {
    this.#written = 0;
    const step = this.#checkpoint(mode).finally(() => {
      this.#underWay = undefined;
    });
    this.#underWay = step;
    return step;
  }

  async #checkpoint(mode: CheckpointMode): Promise<void> {
    // The turn of the transaction was long enough.
    await nextTurn();
    if (this.#thread || (mode === 'FULL' && this.#hasThreads)) {
      if (await this.#inThread(mode)) return;
      // Node's permission model can forbid threads.
      this.#hasThreads = false;
      this.#thread = undefined;
    }
    try {
      this.#database.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch (error) {
      // The next write meets the same problem and reports it.
      this.#options.log('copy the log into the ledger file', error, 'debug');
    }
  }

  async #inThread(mode: CheckpointMode): Promise<boolean> {
    try {
      this.#thread ??= await CheckpointThread.start(this.#options);
      return await this.#thread.checkpoint(mode);
    } catch (error) {
      this.#options.log('start a thread for the ledger', error, 'debug');
      return false;
    }
  }
}
