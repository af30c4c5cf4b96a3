import { spawn } from 'node:child_process';
import { Option } from 'commander';
import { formatDuration } from '../../base/duration.ts';
import { messageOf } from '../../base/errors.ts';
import { doneVariables } from '../../base/run-variables.ts';
import { deferred } from '../../concurrency/deferred.ts';
import { jsonLine } from '../../report/json-line.ts';
import { printable } from '../../report/terminal/terminal.ts';
import { shellVariables } from '../option-flags.ts';
import type { DoneSummary } from './done-summary.ts';

export const onDone = '--on-done';

/** A notification that takes longer than this has failed, in milliseconds. */
const timeLimit = 60_000;

export function onDoneFlag(when: string): Option {
  const given = 'its summary on stdin as JSON';
  return new Option(`${onDone} <command>`, `run this command of the shell ${when}, ${given}`);
}

/**
 * Runs the user's command when something is done. Whatever becomes of it changes nothing: a failure is
 * reported on stderr. Its own output goes there as well, because stdout belongs to the user's program.
 */
export async function runOnDone(
  command: string | undefined,
  summary: DoneSummary,
  { json = false, limit = timeLimit } = {},
): Promise<void> {
  if (!command?.trim()) return;
  const problem = await outcomeOf(command, summary, limit);
  if (problem === undefined) return;
  const origin = { pid: process.pid, time: Date.now() };
  process.stderr.write(
    json
      ? jsonLine('on-done', origin, { problem })
      : `batchling: ${onDone}: ${printable(problem)}. Nothing else is changed by this\n`,
  );
}

/** What went wrong, if anything did. */
async function outcomeOf(
  command: string,
  summary: DoneSummary,
  limit: number,
): Promise<string | undefined> {
  const { promise, resolve } = deferred<string | undefined>();
  // What is told goes by stdin and variables: nothing of it becomes a part of the command line.
  const child = spawn(command, {
    shell: true,
    // A group of its own, so that all that the shell has started can be ended. Windows opens a window for one.
    detached: process.platform !== 'win32',
    windowsHide: true,
    stdio: ['pipe', process.stderr, process.stderr],
    env: { ...shellVariables(), ...variablesFor(summary) },
  });
  const end = (problem: string) => {
    killGroup(child.pid);
    resolve(problem);
  };
  const timer = setTimeout(
    () => end(`the command took longer than ${formatDuration(limit)} and was ended`),
    limit,
  );
  const interrupt = () => end('interrupted');
  for (const signal of signals) process.once(signal, interrupt);
  child.once('error', (error) => resolve(messageOf(error)));
  child.once('exit', (code, signal) => {
    if (code === 0) resolve(undefined);
    else resolve(`the command ended with ${signal ?? `exit code ${code}`}`);
  });
  // A command need not read what it is given.
  child.stdin.on('error', () => undefined);
  child.stdin.end(`${JSON.stringify(summary)}\n`);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    for (const signal of signals) process.off(signal, interrupt);
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function variablesFor({ text, outcome, exitCode }: DoneSummary): Record<string, string> {
  const { text: said, outcome: result, exitCode: code } = doneVariables;
  return { [said]: text, [result]: outcome, [code]: String(exitCode) };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
