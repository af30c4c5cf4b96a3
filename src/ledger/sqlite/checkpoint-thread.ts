import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';

/**
 * Text, because a bundler or a loader of TypeScript would not find a file. It has a connection of its
 * own, which is never in a transaction.
 */
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  process.emitWarning = () => {};
  const { DatabaseSync } = require(workerData.source);
  const database = new DatabaseSync(workerData.path, { timeout: 5 });
  database.exec('PRAGMA fullfsync = ON');
  parentPort.on('message', (sql) => {
    if (sql === undefined) {
      database.close();
      parentPort.close();
      return;
    }
    try {
      database.exec(sql);
    } catch {
      // The next write meets the same problem and reports it.
    }
    parentPort.postMessage(undefined);
  });
`;

export interface ThreadOptions {
  readonly path: string;
  /** See `Driver`. */
  readonly source: string;
}

/** Runs checkpoints where waiting for the disk keeps nobody waiting. */
export class CheckpointThread {
  readonly #worker: Worker;
  readonly #ended: Promise<unknown>;
  #hasEnded = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.#ended = once(worker, 'exit')
      .catch(() => undefined)
      .then(() => {
        this.#hasEnded = true;
      });
    worker.unref();
  }

  /** Rejects where threads are not to be had. */
  static async start(workerData: ThreadOptions): Promise<CheckpointThread> {
    const { Worker } = await import('node:worker_threads');
    // Flags and variables of the program may load other modules into every thread, batchling's too.
    return new CheckpointThread(
      new Worker(program, { eval: true, execArgv: [], env: {}, workerData }),
    );
  }

  /** `false`: the thread is gone. */
  async run(sql: string): Promise<boolean> {
    if (this.#hasEnded) return false;
    // Somebody waits for it, so the program must not end meanwhile.
    this.#worker.ref();
    this.#worker.postMessage(sql);
    await Promise.race([once(this.#worker, 'message'), this.#ended]);
    this.#worker.unref();
    return !this.#hasEnded;
  }

  async close(): Promise<void> {
    if (this.#hasEnded) return;
    this.#worker.ref();
    this.#worker.postMessage(undefined);
    await this.#ended;
  }
}
