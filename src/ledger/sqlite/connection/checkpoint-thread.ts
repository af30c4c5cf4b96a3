import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';

/** `FULL` copies everything, and other processes cannot write meanwhile; `TRUNCATE` also empties the log. */
export type CheckpointMode = 'FULL' | 'TRUNCATE';

export interface ThreadOptions {
  readonly path: string;
  /** See `Driver`. */
  readonly source: string;
}

/**
 * As text: a bundler, or a loader of TypeScript, would not find a file. Whoever writes first after a
 * checkpoint starts the log anew and has to wait for the disk, so that is done here, too.
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
      parentPort.close();
      return;
    }
    try {
      database.exec('PRAGMA wal_checkpoint(' + mode + ')');
      if (mode === 'FULL') database.exec('PRAGMA user_version = 0');
    } catch {
      // Somebody is in the way, or the next write meets the same problem and reports it.
    }
    parentPort.postMessage('done');
  });
`;

/** Runs checkpoints where waiting for the disk keeps nobody waiting, on a connection of its own. */
export class CheckpointThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  #hasEnded = false;

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.#ended = this.#end();
    worker.unref();
  }

  /** Rejects where threads are not to be had. */
  static async start({ path, source }: ThreadOptions): Promise<CheckpointThread> {
    const { Worker } = await import('node:worker_threads');
    // Flags and variables of the program may load modules into every thread, batchling among them.
    const options = { eval: true, execArgv: [], env: {}, workerData: { path, source } };
    return new CheckpointThread(new Worker(program, options));
  }

  /** `false`: the thread is gone. */
  async checkpoint(mode: CheckpointMode): Promise<boolean> {
    if (this.#hasEnded) return false;
    // Somebody waits for it, so the program must not end meanwhile.
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
