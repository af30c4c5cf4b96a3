import { closeSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { readMessage } from './read-message.ts';
import type { RunMessage } from './run-message.ts';

/** A longer line is not a message of ours. */
const longestLine = 4 * 1024 * 1024;
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
  readonly #reports = new Map<string, OpenReport>();
  readonly #over = new Set<string>();

  constructor(path: string, listener: RunListener) {
    this.#path = path;
    this.#listener = listener;
  }

  /** Reads what is new. */
  read(): void {
    for (const name of this.#names()) {
      if (!this.#reports.has(name) && !this.#over.has(name)) this.#open(name);
    }
    for (const report of this.#reports.values()) this.#readReport(report);
  }

  /** Finds processes that have ended; what they have written last is read before. */
  findEnded(): void {
    for (const [name, report] of this.#reports) {
      if (isAlive(report.process.pid)) continue;
      this.#readReport(report);
      this.#close(name, report);
      this.#listener.ended(report.process);
    }
  }

  close(): void {
    for (const [name, report] of this.#reports) this.#close(name, report);
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
    const [, pid] = /^(\d{1,10})-[\w-]{1,60}\.ndjson$/.exec(name) ?? [];
    if (pid === undefined) return;
    const process = { name, pid: Number(pid) };
    const path = join(this.#path, name);
    try {
      // To open anything else may never return.
      const descriptor = lstatSync(path).isFile() ? openSync(path, 'r') : undefined;
      if (descriptor === undefined) {
        this.#over.add(name);
        return;
      }
      this.#reports.set(name, {
        process,
        descriptor,
        decoder: new StringDecoder('utf8'),
        rest: '',
      });
    } catch {
      this.#over.add(name);
    }
  }

  #readReport(report: OpenReport): void {
    for (;;) {
      const size = readChunk(report.descriptor);
      if (size === 0) return;
      const lines = (report.rest + report.decoder.write(chunk.subarray(0, size))).split('\n');
      report.rest = lines.pop() as string;
      if (report.rest.length > longestLine) report.rest = '';
      for (const line of lines) {
        const message = readMessage(line);
        if (message) this.#listener.message(report.process, message);
      }
    }
  }

  #close(name: string, { descriptor }: OpenReport): void {
    closeSync(descriptor);
    this.#reports.delete(name);
    this.#over.add(name);
  }
}

/** How much of it is in `chunk` now. What cannot be read is not shown; the program goes on. */
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
