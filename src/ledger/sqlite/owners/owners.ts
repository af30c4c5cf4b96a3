import type { Standing } from '../../admission-rules.ts';
import type { OwnerId, OwnerInfo } from '../../ledger.ts';
import { ownerLost } from '../../lost.ts';
import type { Statement } from '../connection/driver.ts';
import type { Store } from '../connection/store.ts';
import type { OwnerLocks } from './owner-locks.ts';

interface OwnerRow {
  readonly run: string;
  readonly lock: string;
  readonly closed_at: number | null;
}

/** The owners of the ledger. Methods that are not async are for use inside a transaction. */
export class Owners {
  readonly #store: Store;
  readonly #locks: OwnerLocks;
  readonly #find: Statement;
  readonly #info: Statement;
  readonly #findByLock: Statement;
  readonly #insert: Statement;
  readonly #close: Statement;
  readonly #open: Statement;
  readonly #joined = new Map<OwnerId, string>();

  constructor(store: Store, locks: OwnerLocks) {
    this.#store = store;
    this.#locks = locks;
    this.#find = store.prepare('SELECT run, lock, closed_at FROM owner WHERE id = ?');
    this.#info = store.prepare('SELECT run, host, pid FROM owner WHERE id = ?');
    this.#findByLock = store.prepare('SELECT run, lock, closed_at FROM owner WHERE lock = ?');
    this.#insert = store.prepare(
      'INSERT INTO owner (run, host, pid, lock, joined_at) VALUES (?, ?, ?, ?, ?)',
    );
    this.#close = store.prepare(
      'UPDATE owner SET closed_at = ? WHERE id = ? AND closed_at IS NULL',
    );
    this.#open = store.prepare('SELECT id FROM owner WHERE closed_at IS NULL');
  }

  async join(info: OwnerInfo): Promise<OwnerId> {
    // The lock comes first: an owner whose lock is not held counts as gone.
    const lock = await this.#store.read(() => this.#locks.hold());
    try {
      const id = await this.#store.write(() => {
        const { run, host, pid } = info;
        return Number(this.#insert.run(run, host, pid, lock, this.#store.now()).lastInsertRowid);
      });
      this.#joined.set(id, lock);
      return id;
    } catch (error) {
      this.#locks.release(lock);
      throw error;
    }
  }

  /** Removes lock files of owners that left or died. */
  async sweep(): Promise<void> {
    await this.#store.read(() =>
      this.#locks.sweep((lock) => {
        const row = this.#findByLock.get(lock) as OwnerRow | undefined;
        return row && row.closed_at === null;
      }),
    );
  }

  /** `finished: false`: without its lock it counts as killed. */
  async leave(id: OwnerId, finished: boolean): Promise<void> {
    const lock = this.#joined.get(id);
    if (lock === undefined) return;
    try {
      if (finished) await this.#store.write(() => this.#close.run(this.#store.now(), id));
    } catch (error) {
      this.#store.log('note in the ledger that this owner has left', error);
      // A full disk is no reason to fail a program that has all its answers: without its lock this
      // owner counts as killed, and others can continue its batches.
    }
    this.#joined.delete(id);
    this.#locks.release(lock);
  }

  joined(): OwnerId[] {
    return [...this.#joined.keys()];
  }

  /** The run of an owner that is here. */
  require(id: OwnerId): string {
    const row = this.#find.get(id) as OwnerRow | undefined;
    if (!row) throw ownerLost(id, 'never joined');
    if (row.closed_at !== null) throw ownerLost(id, 'has left');
    if (!this.#locks.isHeld(row.lock)) throw ownerLost(id, 'is counted as gone by');
    return row.run;
  }

  isAlive(id: OwnerId): boolean {
    const row = this.#find.get(id) as OwnerRow | undefined;
    return row !== undefined && row.closed_at === null && this.#locks.isHeld(row.lock);
  }

  alive(): OwnerId[] {
    const rows = this.#open.all() as { id: OwnerId }[];
    return rows.map(({ id }) => id).filter((id) => this.isAlive(id));
  }

  /** Finds an owner that is here. Reads each owner once; valid within one transaction. */
  living(): (id: OwnerId) => OwnerInfo | undefined {
    const known = new Map<OwnerId, OwnerInfo | undefined>();
    return (id) => {
      if (!known.has(id)) {
        known.set(id, this.isAlive(id) ? (this.#info.get(id) as OwnerInfo) : undefined);
      }
      return known.get(id);
    };
  }

  /** Reads each owner once; valid within one transaction. */
  standings(me: OwnerId, run: string): (id: OwnerId) => Standing {
    const known = new Map<OwnerId, Standing>();
    return (id) => {
      let standing = known.get(id);
      if (!standing) {
        standing = this.#standing(id, me, run);
        known.set(id, standing);
      }
      return standing;
    };
  }

  #standing(id: OwnerId, me: OwnerId, run: string): Standing {
    const row = this.#find.get(id) as OwnerRow | undefined;
    const closed = row === undefined || row.closed_at !== null;
    return {
      isMe: id === me,
      sameRun: row?.run === run,
      closed,
      alive: !closed && (id === me || this.#locks.isHeld(row.lock)),
    };
  }
}
