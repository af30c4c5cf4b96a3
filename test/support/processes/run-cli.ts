import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Stage } from '../stage.ts';
import { compiledCli } from './compiled.ts';
import type { Finished } from './run-program.ts';

export interface CliOptions {
  readonly folder?: string;
  readonly environment?: Record<string, string>;
  /** What its stdin holds. */
  readonly input?: string;
  /** The writer of its stdin does not end. */
  readonly isInputOpen?: boolean;
}

export interface RunningCli {
  readonly process: ChildProcess;
  /** What it has printed so far. */
  stdout(): string;
  readonly ended: Promise<Finished>;
}

/** Starts the real command line: `batchling <given…>`. */
export async function startCli(given: string[], options: CliOptions = {}): Promise<RunningCli> {
  const { BATCHLING_RUN: _, NODE_OPTIONS: __, ...inherited } = process.env;
  const child = spawn(process.execPath, [await compiledCli(), ...given], {
    cwd: options.folder,
    env: { ...inherited, BATCHLING_DISPLAY: 'none', ...options.environment },
  });
  child.stdin.write(options.input ?? '');
  if (!options.isInputOpen) child.stdin.end();
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Finished>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { process: child, stdout: () => stdout, ended };
}

export async function runCli(given: string[], options?: CliOptions): Promise<Finished> {
  return (await startCli(given, options)).ended;
}

/** Variables that lead a program to the simulator, with a ledger of its own. */
export function variablesOf(stage: Stage, store = stage.newStore()): Record<string, string> {
  return {
    BATCHLING_HOSTS: Object.entries(stage.hosts)
      .map(([base, provider]) => `${base}=${provider}`)
      .join(','),
    BATCHLING_STORE: store,
    BATCHLING_WINDOW: '50ms',
    BATCHLING_POLL: '10ms',
  };
}

/** Writes the files of a small project. */
export async function writeFiles(
  folder: string,
  files: Record<string, string | Buffer>,
): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}
