import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { FailureLog } from '../../best-effort.ts';
import type { Database } from './driver.ts';

/** `FULL` copies the whole log, and no process can write meanwhile; `TRUNCATE` also empties the log. */
type CheckpointMode = 'FULL' | 'TRUNCATE';

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

/**
 * The program of the thread is a text: a bundler, or a loader of TypeScript, would not find a file. The
 * first write after a checkpoint starts the log anew and waits for the disk, so the thread does it, too.
 */
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  process.emitWarning = () => {};
  const { DatabaseSync } = require(workerData.source);
  const database = new DatabaseSync(workerData.path, { timeout: 200 });
  database.exec('PRAGMA fullfsync = ON; PRAGMA wal_autocheckpoint = 0');
  parentPort.on('message', (mode) => {
    if (mode === 'close') {
      database.close();
      // The port of Deno cannot be closed.
      if (parentPort.close) parentPort.close();
      else process.exit();
      return;
    }
    try {
      database.exec('PRAGMA wal_checkpoint(' + mode + ')');
      if (mode === 'FULL') database.exec('PRAGMA user_version = 0');
    } catch {
      // Another process holds a lock, or the next write meets the same problem and reports it.
    }
    parentPort.postMessage('done');
  });
`;

/** A thread with a connection of its own: there a checkpoint can wait for the disk. */
class CheckpointThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #hasEnded = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.#ended = this.#end();
    worker.unref();
  }

  /** Rejects where threads are not allowed. */
  static async start({ path, source }: Omit<CheckpointOptions, 'log'>): Promise<CheckpointThread> {
    const { Worker } = await import('node:worker_threads');
    // Flags and variables of the program may load modules into every thread, batchling among them.
    const options = { eval: true, execArgv: [], env: {}, workerData: { path, source } };
    return new CheckpointThread(new Worker(program, options));
  }

  /** `false`: the thread has ended. */
  async checkpoint(mode: CheckpointMode): Promise<boolean> {
    if (this.#hasEnded) return false;
    // A transaction waits for it, so the program must not end meanwhile.
    this.#worker.ref();
    this.#worker.postMessage(mode);
    await Promise.race([once(this.#worker, 'message'), this.#ended]);
    this.#worker.unref();
    return !this.#hasEnded;
  }

  async close(): Promise<void> {
    if (this.#hasEnded) return;
    this.#worker.ref();
    this.#worker.postMessage('close');
    await this.#ended;
  }

  async #end(): Promise<void> {
    // An error is followed by the exit, too.
    await once(this.#worker, 'exit').catch(() => undefined);
    this.#hasEnded = true;
  }
}
