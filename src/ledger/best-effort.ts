import { messageOf } from '../base/errors.ts';
import type { LedgerOptions } from './ledger-options.ts';

/** Tells the log what a ledger could not do although it goes on. `debug`: it is tried again. */
export type FailureLog = (what: string, error: unknown, level?: 'debug' | 'warn') => void;

/** Only the texts of errors are logged: an error of a driver may hold its client, and with it the password. */
export function failureLog(logger: LedgerOptions['logger']): FailureLog {
  return (what, error, level = 'warn') => {
    const cause = error instanceof Error && error.cause ? ` (${messageOf(error.cause)})` : '';
    logger?.[level](`batchling could not ${what}`, { error: `${messageOf(error)}${cause}` });
  };
}

/** Waits for work that may fail: the program goes on, and its log says what has failed. */
export async function bestEffort(
  log: FailureLog,
  what: string,
  work: Promise<unknown>,
  level?: 'debug',
): Promise<void> {
  await work.catch((error: unknown) => log(what, error, level));
}
