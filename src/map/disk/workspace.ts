import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchlingError, messageOf } from '../../base/errors.ts';
import { type Database, loadDriver } from '../../ledger/sqlite/connection/driver.ts';
import { isBusy } from '../../ledger/sqlite/connection/store-errors.ts';

/** A folder for the files of a job while it runs. */
export interface Workspace {
  readonly folder: string;
  /** Removes the folder. */
  close(): Promise<void>;
}

const lockName = 'lock';
/** A process that ends removes its lock: then there is another file to lock. */
const mostTries = 20;
/** A file that is open cannot be removed there. */
const keepsOpenFiles = process.platform === 'win32';

const temporaryName = 'batchling-map-';

/** A folder of its own. Those of killed processes are removed: they hold copies of inputs, of any size. */
export async function temporaryWorkspace(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), temporaryName));
  const lock = await lockIn(folder);
  // Another process has found it before it was locked, and removes it.
  if (lock === undefined) return temporaryWorkspace();
  for (const name of await readdir(tmpdir())) {
    const other = join(tmpdir(), name);
    // Another user's cannot be locked.
    if (name.startsWith(temporaryName) && other !== folder) {
      await removeUnlocked(other).catch(() => undefined);
    }
  }
  return { folder, close: () => removeLocked(folder, lock) };
}

async function removeUnlocked(folder: string): Promise<void> {
  const lock = await lockIn(folder);
  if (lock) await removeLocked(folder, lock);
}

/** While the lock is held: nobody else can have a file in this folder. */
async function removeLocked(folder: string, lock: Database): Promise<void> {
  if (keepsOpenFiles) lock.close();
  await remove(folder).catch(() => undefined);
  if (!keepsOpenFiles) lock.close();
}

/**
 * The folder of an output, for one process at a time. It is beside the output: what a killed process has left in it is
 * removed by the next one.
 */
export async function lockedWorkspace(output: string): Promise<Workspace> {
  const folder = `${output}.batchling`;
  const lock = await lockIn(folder);
  if (lock === undefined) {
    throw new BatchlingError(
      'INVALID_OPTION',
      `Another process is writing ${output}. Wait for its end, or name another output.`,
    );
  }
  for (const name of await readdir(folder)) {
    if (name !== lockName) await remove(join(folder, name));
  }
  return {
    folder,
    close: () => removeLocked(folder, lock),
  };
}

/** SQLite's lock on a file of its own, as owners of a ledger have one: the system drops it when the process dies. */
async function lockIn(folder: string): Promise<Database | undefined> {
  const { DatabaseSync } = await loadDriver();
  const path = join(folder, lockName);
  for (let tries = 1; ; tries += 1) {
    await makeFolder(folder);
    const before = await idOf(path);
    let lock: Database | undefined;
    try {
      lock = new DatabaseSync(path, { timeout: 0 });
      lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
      // Otherwise the file that was opened may have been removed since.
      if (before !== undefined && before === (await idOf(path))) return lock;
    } catch (error) {
      lock?.close();
      if (isBusy(error)) return undefined;
      if (tries === mostTries) throw error;
      continue;
    }
    lock.close();
  }
}

/** Not with its parents: where nothing can be made, as in /proc, Node would try that for ever. */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    const message = `The output cannot be written: ${messageOf(error)}`;
    throw new BatchlingError('INVALID_OPTION', message, { cause: error });
  }
}

async function idOf(path: string): Promise<bigint | undefined> {
  try {
    return (await stat(path, { bigint: true })).ino;
  } catch {
    return undefined;
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
