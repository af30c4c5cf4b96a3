import { spawn } from 'node:child_process';
import type { AskInput, AskOutput } from '../programs/ask-and-die.ts';
import { compiledProgram } from './compiled.ts';

export type { AskInput, AskOutput, Heard } from '../programs/ask-and-die.ts';
export type { KillPoint } from '../programs/parts/commit-killer.ts';

/** A process that asks, and can be killed or stopped from here. */
export interface Asker {
  readonly ended: Promise<AskEnd>;
  /** What it has written to stderr so far. */
  readonly stderr: string;
  send(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
}

export interface AskEnd {
  readonly signal: NodeJS.Signals | null;
  /** Missing when the process was killed before its end. */
  readonly output: AskOutput | undefined;
  readonly stderr: string;
}

export async function startAsker(
  input: AskInput,
  environment: Record<string, string> = {},
): Promise<Asker> {
  const program = await compiledProgram('ask-and-die');
  const { BATCHLING_RUN: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [program, JSON.stringify(input)], {
    env: { ...inherited, BATCHLING_DISPLAY: 'none', ...environment },
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
  const ended = new Promise<AskEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve({ signal, output: undefined, stderr });
      else if (code === 0) resolve({ signal, output: JSON.parse(stdout) as AskOutput, stderr });
      else reject(new Error(`The program ended with ${code ?? signal}: ${stderr}${stdout}`));
    });
  });
  // Who is killed on purpose is not always waited for.
  ended.catch(() => undefined);
  return {
    ended,
    get stderr() {
      return stderr;
    },
    send: (signal) => child.kill(signal),
  };
}

/** Runs it to its end; a kill is an error here. */
export async function askToTheEnd(
  input: AskInput,
  environment: Record<string, string> = {},
): Promise<AskOutput> {
  const { output, stderr } = await (await startAsker(input, environment)).ended;
  if (output === undefined) throw new Error(`The program was killed: ${stderr}`);
  return output;
}
