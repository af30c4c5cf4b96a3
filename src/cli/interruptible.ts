import { KeepAlive } from '../concurrency/keep-alive.ts';

// Only the CLI handles signals; the library installs no handlers.
const signals = ['SIGINT', 'SIGTERM'] as const;

/** Keeps the process alive for some work. The first signal stops the work with `reason`, the second one ends the process. */
export async function interruptible(
  work: (stopped: AbortSignal) => Promise<void>,
  reason?: Error,
): Promise<void> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(reason);
  for (const signal of signals) process.once(signal, onSignal);
  const keepAlive = new KeepAlive();
  keepAlive.hold();
  try {
    await work(stop.signal);
  } finally {
    keepAlive.release();
    for (const signal of signals) process.off(signal, onSignal);
  }
}

/** Resolves when somebody wants a server to end. */
export function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
}
