import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { openRunDisplay } from '../../report/run/run-display.ts';
import { exitCodes } from '../exit-codes.ts';
import type { RunEnvironment, Variables } from './run-environment.ts';
import { unbatchedNote } from './unbatched-note.ts';

export interface Launch {
  /** Processes that a dry run stops may be part of it, and it may count them as failed. */
  readonly isCommand?: boolean;
  readonly command: string;
  readonly given: readonly string[];
  readonly variables: Variables;
  readonly environment: RunEnvironment;
}

/**
 * Starts the program with our own stdin, stdout and stderr, shows what its processes do, and waits for
 * its end. Resolves to its exit code, `128 + n` when signal n has ended it. Rejects when it cannot be started.
 */
export async function launch(launched: Launch): Promise<number> {
  const { command, given, variables, environment, isCommand = false } = launched;
  // Under another `batchling run` or `exec` this is part of that run, which shows it.
  if (environment.isInner) return start(command, given, variables);
  const { display: mode, mayDetach } = environment;
  const display = openRunDisplay({ mode, stream: process.stderr, mayDetach });
  try {
    const code = await start(command, given, { ...variables, ...display.variables });
    const outcome = await display.close();
    const note = unbatchedNote(outcome, code, environment);
    if (note && mode !== 'none' && mode !== 'json') {
      const { plainOutput } = await import('../../report/terminal/line-output.ts');
      plainOutput(process.stderr).print(note.text);
    }
    const stopped = hasStopped(outcome.dryRun) && isCommand ? exitCodes.fine : code;
    // A process that has left its work under way may be one of many under the command.
    const ended = mayDetach && outcome.detached ? exitCodes.detached : stopped;
    const isFine = ended === 0 || ended === exitCodes.detached;
    return isFine && note?.isFailure ? exitCodes.failed : ended;
  } finally {
    await display.close();
  }
}

/** Whether the dry run has ended processes, rather than going with them to their own end. */
function hasStopped(dryRun: DryRunSummary | undefined): boolean {
  return dryRun !== undefined && !dryRun.deep && dryRun.calls > dryRun.fromLedger;
}

async function start(
  command: string,
  given: readonly string[],
  variables: Variables,
): Promise<number> {
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
