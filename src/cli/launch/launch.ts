import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Variables } from './run-environment.ts';

export interface Launch {
  readonly command: string;
  readonly given: readonly string[];
  readonly variables: Variables;
}

/**
 * Starts the program with our own stdin, stdout and stderr, and waits for its end. Resolves to its exit
 * code, `128 + n` when signal n has ended it. Rejects when it cannot be started.
 */
export async function launch({ command, given, variables }: Launch): Promise<number> {
  const child = spawn(command, given, { stdio: 'inherit', env: variables });
  const stopForwarding = forwardSignals(child);
  try {
    return await exitCodeOf(child);
  } finally {
    stopForwarding();
  }
}

function exitCodeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]);
    });
  });
}

/**
 * A terminal sends Ctrl-C to the program as well as to us: we only stay until the program has ended. What
 * others send to us alone is passed on.
 */
function forwardSignals(child: ChildProcess): () => void {
  const stay = () => undefined;
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', stay);
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  return () => {
    process.off('SIGINT', stay);
    process.off('SIGTERM', forward);
    process.off('SIGHUP', forward);
  };
}
