import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';

/**
 * Asks the person at the terminal; Ctrl-D says no. Everywhere else nobody is there to ask, so `otherwise` holds.
 * Rejects with the reason of the signal.
 */
export async function confirm(
  question: string,
  otherwise: boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return otherwise;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // While a line is typed, the terminal hands over Ctrl-C as a key.
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const closed = once(terminal, 'close').then(() => undefined);
  try {
    const asked = terminal.question(`${question} [y/N] `, signal ? { signal } : {});
    const answer = await Promise.race([asked.catch(() => undefined), closed]);
    if (answer === undefined) process.stderr.write('\n');
    signal?.throwIfAborted();
    return /^y(es)?$/i.test((answer ?? '').trim());
  } finally {
    terminal.close();
  }
}
