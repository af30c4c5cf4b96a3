import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { RunMessage } from './run-message.ts';

const chunk = Buffer.alloc(64 * 1024);

/** Hears the processes of a run. */
export interface RunListener {
  message(process: ProcessKey, message: RunMessage): void;
  /** The process has ended, well or not. */
  ended(process: ProcessKey): void;
}

export interface ProcessKey {
  /** Unique: a process may report in several files, one for each worker thread. */
  readonly name: string;
  readonly pid: number;
}

interface OpenReport {
  readonly process: ProcessKey;
  readonly descriptor: number;
  readonly decoder: StringDecoder;
  rest: string;
}

/** The folder in which the processes of a run report, a file each. */
export class ReportFolder {
  readonly #path: string;
  readonly #listener: RunListener;
  /** Keyed by file name. `undefined`: there is no more to read. */
  readonly #reports = new Map<string, OpenReport | undefined>();

  constructor(path: string, listener: RunListener) {
    this.#path = path;
    this.#listener = listener;
  }

  /** Reads what is new. */
  read(): void {
    for (const name of this.#names()) if (!this.#reports.has(name)) this.#open(name);
    for (const report of this.#reports.values()) if (report) this.#readReport(report);
  }

  /** Finds processes that have ended; what they have written last is read before. */
  findEnded(): void {
    for (const [name, report] of this.#reports) {
      if (report === undefined || isAlive(report.process.pid)) continue;
      this.#readReport(report);
      closeSync(report.descriptor);
      this.#reports.set(name, undefined);
      this.#listener.ended(report.process);
    }
  }

  close(): void {
    for (const report of this.#reports.values()) if (report) closeSync(report.descriptor);
    this.#reports.clear();
  }

  #names(): string[] {
    try {
      return readdirSync(this.#path);
    } catch {
      // Somebody has cleaned up the temporary files.
      return [];
    }
  }

  #open(name: string): void {
    const process = { name, pid: Number.parseInt(name, 10) };
    const decoder = new StringDecoder('utf8');
    try {
      const descriptor = openSync(join(this.#path, name), 'r');
      this.#reports.set(name, { process, descriptor, decoder, rest: '' });
    } catch {
      this.#reports.set(name, undefined);
    }
  }

  /** A line that is torn, or that another version of the package has written, is not shown. The run goes on. */
  #tell(process: ProcessKey, line: string): void {
    try {
      this.#listener.message(process, JSON.parse(line) as RunMessage);
    } catch {
      // There is nobody to tell who could do something about it.
    }
  }

  #readReport(report: OpenReport): void {
    for (;;) {
      const size = readChunk(report.descriptor);
      if (size === 0) return;
      const lines = (report.rest + report.decoder.write(chunk.subarray(0, size))).split('\n');
      report.rest = lines.pop() as string;
      for (const line of lines) {
        this.#tell(report.process, line);
      }
    }
  }
}

/** Reads into `chunk` and returns the number of bytes. A file that cannot be read is not shown; the program goes on. */
function readChunk(descriptor: number): number {
  try {
    return readSync(descriptor, chunk);
  } catch {
    return 0;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
