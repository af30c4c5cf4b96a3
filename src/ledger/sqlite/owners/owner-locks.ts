import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import type { OwnerInfo } from '../../ledger.ts';
import type { Database, Driver } from '../connection/driver.ts';
import { isBusy } from '../connection/store-errors.ts';
import { createPrivateFile } from '../connection/store-files.ts';

const PROBE_VALID_MILLISECONDS = 100;
const NEVER_JOINED_MILLISECONDS = 3_600_000;

const shared = Symbol.for('batchling.sqlite.locks');

/**
 * An owner lives while its process holds an exclusive SQLite lock on a file of its own: the kernel
 * drops it when the process dies, and keeps it while the process is stopped or the machine sleeps.
 */
export class OwnerLocks {
  readonly #driver: Driver;
  readonly #folder: string;
  readonly #probes = new Map<string, { alive: boolean; validUntil: number }>();

  constructor(driver: Driver, ledgerPath: string) {
    this.#driver = driver;
    this.#folder = `${ledgerPath}.owners`;
  }

  /** Takes a new lock; its name is never used again. */
  hold(): string {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const name = `${randomBytes(12).toString('hex')}.lock`;
    const file = this.#fileOf(name);
    createPrivateFile(file);
    const database = new this.#driver.DatabaseSync(file, { timeout: 0 });
    try {
      // Nothing is ever written, so there is no need for a journal beside the lock.
      database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    } catch (error) {
      database.close();
      throw error;
    }
    heldHere().set(file, database);
    return name;
  }

  /** An owner that is here, if there is one. */
  findAlive(ledger: Database): Pick<OwnerInfo, 'host' | 'pid'> | undefined {
    const open = ledger.prepare('SELECT host, pid, lock FROM owner WHERE closed_at IS NULL').all();
    return (open as (OwnerInfo & { lock: string })[]).find(({ lock }) => this.isHeld(lock));
  }

  release(name: string): void {
    const file = this.#fileOf(name);
    heldHere().get(file)?.close();
    heldHere().delete(file);
    this.#remove(file);
  }

  /**
   * A lock of this process is known, not probed: POSIX locks never conflict within one process. Its
   * process id would not do to tell: a container that starts again has the same one.
   */
  isHeld(name: string): boolean {
    const file = this.#fileOf(name);
    if (heldHere().has(file)) return true;
    const known = this.#probes.get(name);
    if (known && performance.now() < known.validUntil) return known.alive;
    const alive = this.#probe(file);
    // A dead owner stays dead.
    const validUntil = alive ? performance.now() + PROBE_VALID_MILLISECONDS : Infinity;
    this.#probes.set(name, { alive, validUntil });
    return alive;
  }

  /** Removes the files of owners that left or died. `isOpen`: joined and not left, if known at all. */
  sweep(isOpen: (name: string) => boolean | undefined): void {
    for (const name of readdirSync(this.#folder)) {
      const file = this.#fileOf(name);
      if (heldHere().has(file)) continue;
      const open = isOpen(name);
      if (open === true) this.isHeld(name);
      else if (open === false || this.#isOld(file)) this.#remove(file);
    }
  }

  /** This avoids the slower `join` of `node:path`: every write asks whether its owner is here. */
  #fileOf(name: string): string {
    return `${this.#folder}${sep}${name}`;
  }

  #probe(file: string): boolean {
    let database: Database | undefined;
    try {
      database = new this.#driver.DatabaseSync(file, { timeout: 0, readOnly: true });
      // A shared lock is enough to tell, and two that probe at once do not mislead each other.
      database.exec('SELECT count(*) FROM sqlite_schema');
    } catch (error) {
      // In doubt it lives: taking over from a living owner could pay for a batch twice.
      return isBusy(error) || statSync(file, { throwIfNoEntry: false }) !== undefined;
    } finally {
      database?.close();
    }
    this.#remove(file);
    return false;
  }

  /** Too old to belong to an owner that is just about to join. */
  #isOld(file: string): boolean {
    const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
    return modified !== undefined && Date.now() - modified > NEVER_JOINED_MILLISECONDS;
  }

  #remove(file: string): void {
    try {
      rmSync(file, { force: true });
    } catch {
      // A stale lock file does no harm; the next owner that joins tries again.
    }
  }
}

/** Shared by all copies of the package in this process, like the SQLite library itself. */
function heldHere(): Map<string, Database> {
  const holder = globalThis as { [shared]?: Map<string, Database> };
  holder[shared] ??= new Map();
  return holder[shared];
}
