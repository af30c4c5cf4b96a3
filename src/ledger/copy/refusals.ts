import { BatchlingError } from '../../base/errors.ts';

export function inUse(shown: string, { host, pid }: { host: string; pid: number }): BatchlingError {
  return new BatchlingError(
    'STORE_UNUSABLE',
    `The ledger ${shown} cannot be moved: process ${pid} on ${host} works with it. ` +
      'Run again when that one has ended.',
    { facts: { store: shown, host, pid } },
  );
}

export function notEmpty(shown: string): BatchlingError {
  return new BatchlingError(
    'STORE_UNUSABLE',
    `The ledger ${shown} is not empty: a ledger can only be moved to a place where there is none.`,
    { facts: { store: shown } },
  );
}
