import { BatchlingError } from '../../base/errors.ts';

/** `shown`: where the ledger is, without a password. */
export function unusable(shown: string, why: string, cause?: unknown): BatchlingError {
  return new BatchlingError('STORE_UNUSABLE', `The ledger ${shown} cannot be used: ${why}`, {
    ...(cause !== undefined && { cause }),
    facts: { store: shown },
  });
}

/** The database has refused a row by one of its constraints. */
export function contradiction(shown: string, cause: unknown): BatchlingError {
  return new BatchlingError(
    'INVARIANT',
    `The ledger ${shown} refused a row that contradicts another one. ` +
      'This is a bug in batchling; please report it.',
    { cause, facts: { store: shown } },
  );
}

/** The end of what is said of a disk. */
export const IS_FULL = 'is full. Free some space and run again: what is stored is kept.';

/** The code of an error of the system, or of a driver. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
