import { spawn } from 'node:child_process';
import { compiledProgram } from './compiled.ts';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `test/support/programs/<name>.ts` as a process of its own; `input` is its argument. */
export async function runProgram(
  name: string,
  input: unknown,
  environment: Record<string, string> = {},
  /** After so many milliseconds it is ended, and its code is `null`. */
  timeout?: number,
): Promise<Finished> {
  const path = await compiledProgram(name);
  const { BATCHLING_RUN: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [path, JSON.stringify(input)], {
    env: { ...inherited, BATCHLING_DISPLAY: 'none', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** The same, for a program that must end well and prints JSON. */
export async function resultOf<T>(
  name: string,
  input: unknown,
  environment: Record<string, string> = {},
): Promise<T> {
  const { code, stdout, stderr } = await runProgram(name, input, environment);
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
