import { type ChildProcess, spawn } from 'node:child_process';
import { compiledCli } from './compiled.ts';
import type { Finished } from './run-program.ts';

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<Finished>;
  /** What it has printed so far. */
  stdout(): string;
}

/** Variables of this machine that would change what the commands say. */
const forgotten = /^(BATCHLING_|OPENAI_|ANTHROPIC_)/;

/** Starts the real command line as a process of its own. */
export async function startCommand(
  given: readonly string[],
  environment: Record<string, string> = {},
  cwd = process.cwd(),
): Promise<RunningCommand> {
  const main = await compiledCli();
  const inherited = Object.entries(process.env).filter(([name]) => !forgotten.test(name));
  const child = spawn(process.execPath, [main, ...given], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
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
  return { child, ended, stdout: () => stdout };
}

export async function runCommand(
  given: readonly string[],
  environment: Record<string, string> = {},
  cwd?: string,
): Promise<Finished> {
  return (await startCommand(given, environment, cwd)).ended;
}
