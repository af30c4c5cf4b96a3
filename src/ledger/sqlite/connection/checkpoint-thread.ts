import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import type { Driver } from './driver.ts';

/** `FULL` copies the whole log, and no process can write meanwhile; `TRUNCATE` also empties the log. */
export type CheckpointMode = 'FULL' | 'TRUNCATE';

/**
 * The program of the thread is a text: a bundler, or a loader of TypeScript, would not find a file. The
 * first write after a checkpoint starts the log anew and waits for the disk, so the thread does it, too.
 */
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  process.emitWarning = () => {};
  const { path, source, inNative } = workerData;
  const ended = () => {
    Atomics.sub(inNative, 0, 1);
    Atomics.notify(inNative, 0);
  };
  let database;
  try {
    const { DatabaseSync } = require(source);
    database = new DatabaseSync(path, { timeout: 200 });
    database.exec('PRAGMA fullfsync = ON; PRAGMA wal_autocheckpoint = 0');
  } finally {
    ended();
  }
  parentPort.on('message', (mode) => {
    if (mode === 'close') {
      database.close();
      ended();
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
    ended();
    parentPort.postMessage('done');
  });
`;

/** The longest that a process that exits waits for a step. */
const MOST_MILLISECONDS = 2_000;

const threads = new Set<CheckpointThread>();

/** A thread with a connection of its own: there a checkpoint can wait for the disk. */
export class CheckpointThread {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  /** How often the thread has been sent into native code and is not back, its start included. Both threads see it. */
  readonly #inNative: Int32Array;
  #hasEnded = false;

  private constructor(worker: Worker, inNative: Int32Array) {
    this.#worker = worker;
    this.#inNative = inNative;
    this.#ended = this.#end();
    worker.unref();
    if (threads.size === 0) process.on('exit', letStepsEnd);
    threads.add(this);
  }

  /** Rejects where threads are not allowed. */
  static async start({ path, source }: { path: string } & Pick<Driver, 'source'>) {
    const { Worker } = await import('node:worker_threads');
    const inNative = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)).fill(1);
    // Flags and variables of the program may load modules into every thread, batchling among them.
    const options = { eval: true, execArgv: [], env: {}, workerData: { path, source, inNative } };
    return new CheckpointThread(new Worker(program, options), inNative);
  }

  /** `false`: the thread has ended. */
  async checkpoint(mode: CheckpointMode): Promise<boolean> {
    if (this.#hasEnded) return false;
    // A transaction waits for it, so the program must not end meanwhile.
    this.#worker.ref();
    this.#send(mode);
    await Promise.race([once(this.#worker, 'message'), this.#ended]);
    this.#worker.unref();
    return !this.#hasEnded;
  }

  async close(): Promise<void> {
    if (this.#hasEnded) return;
    this.#worker.ref();
    this.#send('close');
    await this.#ended;
  }

  /** Blocks until the thread has left native code. */
  letStepEnd(): void {
    const giveUpAt = performance.now() + MOST_MILLISECONDS;
    for (let left = MOST_MILLISECONDS; left > 0; left = giveUpAt - performance.now()) {
      const count = Atomics.load(this.#inNative, 0);
      if (count <= 0) return;
      Atomics.wait(this.#inNative, 0, count, left);
    }
  }

  #send(message: CheckpointMode | 'close'): void {
    Atomics.add(this.#inNative, 0, 1);
    this.#worker.postMessage(message);
  }

  async #end(): Promise<void> {
    // An error is followed by the exit, too.
    await once(this.#worker, 'exit').catch(() => undefined);
    this.#hasEnded = true;
    threads.delete(this);
    if (threads.size === 0) process.off('exit', letStepsEnd);
  }
}

/**
 * `process.exit()` cuts threads off, and one that comes back from the code of `@photostructure/sqlite` after that aborts the
 * process: with SIGABRT, and not with the exit code of the program. Seen with 1.2.1, on Node 20.
 */
function letStepsEnd(): void {
  for (const thread of threads) thread.letStepEnd();
}
