import { createInterface } from 'node:readline/promises';

/** Asks the person at the terminal. Everywhere else nobody is there to ask, so `otherwise` holds. */
export async function confirm(question: string, otherwise: boolean): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return otherwise;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
