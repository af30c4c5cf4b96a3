import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf, unusable } from '../../sql/unusable.ts';
import { explainStoreError } from './store-errors.ts';

/**
 * Makes the folder and an empty file that only its user can read. Returns the real path: the owners'
 * lock files lie beside the ledger, so every process has to see it under the same name.
 */
export function prepareStoreFile(path: string): string {
  const wanted = resolve(path);
  try {
    makeFolder(dirname(wanted));
    const there = statSync(wanted, { throwIfNoEntry: false });
    if (there?.isDirectory()) {
      throw unusable(
        path,
        'it is a folder. Name a file, for example with "/ledger.db" at the end.',
      );
    }
    // The mode of a device is not ours to change.
    if (there && !there.isFile()) {
      throw unusable(path, 'it is a device or a pipe. Name a file.');
    }
    createPrivateFile(wanted);
    const real = realpathSync(wanted);
    // Says why; SQLite would only say that it cannot open it.
    accessSync(real, constants.R_OK | constants.W_OK);
    for (const suffix of ['', '-wal', '-shm']) makePrivate(`${real}${suffix}`);
    return real;
  } catch (error) {
    throw explainStoreError(path, error);
  }
}

/**
 * With `recursive`, Node's own never returns where the file system makes no folders, such as /proc, and takes
 * a file system that is read-only for a path that does not exist.
 */
function makeFolder(path: string): void {
  const parent = dirname(path);
  if (existsSync(path) || parent === path) return;
  makeFolder(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if (!existsSync(path)) throw error;
  }
}

/**
 * SQLite gives its `-wal` and `-shm` files the mode of the main file, so that has to be right first.
 * An existing file is never opened here: closing it would drop all SQLite locks this process has on it.
 */
export function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function makePrivate(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & 0o077) === 0 || process.platform === 'win32') return;
  chmodSync(path, mode & 0o700);
}
