import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export interface Told {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A terminal: a folder, and variables that `export` changes. */
export class NewcomerShell {
  readonly #folder: string;
  readonly #variables: Record<string, string | undefined>;

  constructor(folder: string, variables: Record<string, string | undefined>) {
    this.#folder = folder;
    this.#variables = { ...variables };
  }

  /** The variables that a line `export NAME=value` sets stay for later lines. */
  export(line: string): void {
    const [, name = '', value = ''] = /^\s*export (\w+)="?(.*?)"?$/.exec(line) ?? [];
    this.#variables[name] = value;
  }

  start(command: string, more: Record<string, string | undefined> = {}): ChildProcess {
    return spawn('bash', ['-c', `exec ${command}`], {
      cwd: this.#folder,
      env: { ...this.#variables, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async type(command: string, more: Record<string, string | undefined> = {}): Promise<Told> {
    const child = this.start(command, more);
    const [stdout, stderr] = await Promise.all([
      text(child.stdout as NodeJS.ReadableStream),
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'close'),
    ]);
    return { code: child.exitCode, stdout, stderr };
  }
}
