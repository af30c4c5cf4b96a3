import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type ResolvedOptions, resolveOptions } from '../../options/index.ts';
import type { DryRunSummary } from '../../orchestrator/dry-run/dry-run-summary.ts';
import { openRunDisplay } from '../../report/run/run-display.ts';
import type { RunOutcome } from '../../report/run/run-totals.ts';
import { counted } from '../../report/text/summary.ts';
import { useConfig } from '../config-path.ts';
import { doneSummary, statsText } from '../done/done-summary.ts';
import { runOnDone } from '../done/on-done.ts';
import { tellRunDone } from '../done/tell-run-done.ts';
import { exitCodes } from '../exit-codes.ts';
import type { RunEnvironment, Variables } from './run-environment.ts';
import { unbatchedNote } from './unbatched-note.ts';

export interface Launch {
  /** The name of the command, as users type it. */
  readonly as: 'run' | 'exec';
  /** What is run, in the words of the user. */
  readonly called: string;
  /** `--on-done` */
  readonly onDone: string | undefined;
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
  const { environment, isCommand = false } = launched;
  // Under another `batchling run` or `exec` this is part of that run, which shows it.
  if (environment.isInner) return (await startReached(launched, launched.variables)).code;
  const { display: mode, mayDetach } = environment;
  const display = openRunDisplay({ mode, stream: process.stderr, mayDetach });
  const began = performance.now();
  try {
    const variables = { ...launched.variables, ...display.variables };
    const { code, isInterrupted } = await startReached(launched, variables);
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
    const exitCode = isFine && note?.isFailure ? exitCodes.failed : ended;
    if (!isInterrupted) {
      await tellDone(launched, outcome, exitCode, Math.round(performance.now() - began));
    }
    return exitCode;
  } finally {
    await display.close();
  }
}

/** Whether the dry run has ended processes, rather than going with them to their own end. */
function hasStopped(dryRun: DryRunSummary | undefined): boolean {
  return dryRun !== undefined && !dryRun.deep && dryRun.calls > dryRun.fromLedger;
}

/** A run with work under way is not done: the run that gets the answers tells of it. */
async function tellDone(
  { as: command, called, onDone, environment }: Launch,
  { stats, dryRun }: RunOutcome,
  exitCode: number,
  milliseconds: number,
): Promise<void> {
  if (exitCode === exitCodes.detached) return;
  const facts = { command, exitCode, milliseconds, stats, ...(dryRun && { dryRun }) };
  const said = dryRun ? `dry run, ${counted(dryRun.calls, 'call')}` : statsText(stats);
  const summary = doneSummary(facts, called, said);
  // The processes of the run tell of their batches; only we know when all of them have ended.
  if (stats.captured > 0) await tellRunDone(() => allOptions(environment), summary);
  await runOnDone(onDone, summary, { json: environment.display === 'json' });
}

/** The options with those of the config file, as the processes of the run have them. */
async function allOptions({
  variables,
  config,
  options,
}: RunEnvironment): Promise<ResolvedOptions> {
  if (config === undefined) return options;
  await useConfig(config);
  return resolveOptions({}, undefined, variables);
}

/** Starts the program, with a gateway for its life if it is to have one. */
async function startReached({ command, given, environment }: Launch, variables: Variables) {
  if (!environment.hasGateway) return start(command, given, variables);
  const { openCommandGateway } = await import('./command-gateway.ts');
  const gateway = await openCommandGateway(environment, variables);
  try {
    return await start(command, given, gateway.variables);
  } finally {
    await gateway.close();
  }
}

/** `isInterrupted`: somebody has ended it by a signal to us, or by Ctrl-C. */
async function start(command: string, given: readonly string[], variables: Variables) {
  const child = spawn(command, given, { stdio: 'inherit', env: variables });
  const signals = forwardSignals(child);
  try {
    const code = await exitCodeOf(child);
    const isInterrupted =
      code === exitCodes.interrupted || (signals.heard && code !== exitCodes.fine);
    return { code, isInterrupted };
  } finally {
    signals.stop();
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
function forwardSignals(child: ChildProcess) {
  const signals = { heard: false, stop };
  const stay = () => {
    signals.heard = true;
  };
  const forward = (signal: NodeJS.Signals) => {
    signals.heard = true;
    child.kill(signal);
  };
  process.on('SIGINT', stay);
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  function stop(): void {
    process.off('SIGINT', stay);
    process.off('SIGTERM', forward);
    process.off('SIGHUP', forward);
  }
  return signals;
}
