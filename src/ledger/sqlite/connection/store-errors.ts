import { BatchlingError } from '../../../base/errors.ts';
import { codeOf, contradiction, IS_FULL, unusable } from '../../sql/unusable.ts';

const BUSY = 5;
const CONSTRAINT = 19;

/** Extended codes of I/O errors that come from locks or from the shared memory of the WAL. */
const LOCK_ERRORS = new Set([2058, 2314, 3594, 3850, 4618, 4874, 5130, 5386]);

const EXPLANATIONS: Readonly<Record<number | string, string>> = {
  3: 'this user may not read and write it. Correct its permissions, or choose another store.',
  8: 'it is read-only. Make it and its folder writable, or choose another store.',
  10: 'the disk reports an input/output error. Check the disk, or choose another store.',
  11: 'it is damaged. Move it aside to start a new one; answers in it that are not read yet are lost.',
  13: `the disk ${IS_FULL}`,
  14: 'it cannot be opened. Check that its folder exists and is writable, or choose another store.',
  15: 'its file system does not support the locks a ledger needs. Choose a store on a local disk.',
  26: 'it is not a ledger: the file is no SQLite database. Choose another store, or move it aside.',
  EACCES: 'this user may not read and write it. Correct its permissions, or choose another store.',
  EPERM: 'this user may not read and write it. Correct its permissions, or choose another store.',
  EROFS: 'its file system is read-only. Choose another store.',
  ENOSPC: `the disk ${IS_FULL}`,
  ENOTDIR: 'a part of its path is a file, not a folder. Choose another store.',
  EEXIST: 'a part of its path is a file, not a folder. Choose another store.',
  ENOENT: 'a part of its path does not exist and cannot be made. Choose another store.',
  ENAMETOOLONG: 'its path is too long. Choose another store.',
};

/** For a warning: the program goes on. */
export function damageIn(path: string): string {
  return (
    `The ledger ${path} is damaged: answers that are broken count as missing, and are paid for again when they ` +
    'are asked for. Check its disk.'
  );
}

export function isBusy(error: unknown): boolean {
  return (sqliteCode(error) ?? 0) % 256 === BUSY;
}

/** Says what the error means for the user of this store. Our own errors pass as they are. */
export function explainStoreError(path: string, error: unknown): unknown {
  if (BatchlingError.isInstance(error)) return error;
  const code = sqliteCode(error);
  if (code === undefined) {
    const known = EXPLANATIONS[codeOf(error) ?? ''];
    return known === undefined ? error : unusable(path, known, error);
  }
  if (code % 256 === CONSTRAINT) return contradiction(path, error);
  const primary = LOCK_ERRORS.has(code) ? 15 : code % 256;
  const fallback = 'SQLite reports an error (see its cause). Choose another store, or report it.';
  return unusable(path, EXPLANATIONS[primary] ?? fallback, error);
}

function sqliteCode(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('errcode' in error)) return undefined;
  return typeof error.errcode === 'number' ? error.errcode : undefined;
}
