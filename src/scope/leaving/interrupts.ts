import { processCalls } from '../process-calls.ts';
import { exit } from './exit.ts';
import { leave } from './leave.ts';
import { allowOneMoreListener } from './one-more-listener.ts';

/** The exit code of a process that a signal has interrupted. */
export const interruptedCode = 130;

const signals = ['SIGINT', 'SIGTERM'] as const;

/**
 * Leaves in order when the process is interrupted, for programs that the CLI has started. Only while calls
 * wait: otherwise a signal does what it does without batchling.
 */
export function handleInterrupts(): void {
  const calls = processCalls();
  let uninstall: (() => void) | undefined;
  calls.onChange((isWaiting) => {
    if (isWaiting) uninstall ??= listen();
    else if (!calls.isLeaving) {
      uninstall?.();
      uninstall = undefined;
    }
  });
}

/** Ours come first: a listener of the program that listens once is gone when it has been called. */
function listen(): () => void {
  const restoreLimit = allowOneMoreListener();
  for (const signal of signals) process.prependListener(signal, interrupted);
  return () => {
    for (const signal of signals) process.off(signal, interrupted);
    restoreLimit();
  };
}

function interrupted(signal: NodeJS.Signals): void {
  const isProgramsOwn = listensItself(signal);
  if (processCalls().isLeaving) {
    // A process may get SIGTERM from two sides at once; only a key is pressed twice.
    if (signal === 'SIGINT' && !isProgramsOwn) exit(interruptedCode);
    return;
  }
  void leave('interrupted').then(() => {
    if (!isProgramsOwn) exit(interruptedCode);
    // The program decides when it ends. If it only waits for its calls, it ends now.
    process.exitCode ??= interruptedCode;
    processCalls().letProcessEnd();
  });
}

/** The program, or a library of it, handles the signal: then it also decides whether to exit. */
function listensItself(signal: NodeJS.Signals): boolean {
  return process.listenerCount(signal) > 1 + exitHooks(signal);
}

/**
 * Listeners of the package signal-exit, which many command line tools use: it exits only where nobody else
 * listens, so it leaves that to us.
 */
function exitHooks(signal: NodeJS.Signals): number {
  const holder = globalThis as { [signalExit]?: { readonly count?: unknown } };
  const older = process as { __signal_exit_emitter__?: { readonly count?: unknown } };
  const counts = [holder[signalExit]?.count, older.__signal_exit_emitter__?.count];
  const known = counts.reduce<number>((sum, count) => sum + (Number(count) || 0), 0);
  return Math.min(known, process.listenerCount(signal) - 1);
}

const signalExit = Symbol.for('signal-exit emitter');
