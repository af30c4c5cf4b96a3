import type { Standing } from '../../admission-rules.ts';
import type { OwnerId, OwnerInfo } from '../../ledger.ts';
import { ownerLost } from '../../lost.ts';
import { type OwnerInfoRow, ownerInfo, storedTroubles } from '../../sql/owner-info.ts';
import { remembered } from '../connection/remembered.ts';
import type { Store } from '../connection/store.ts';
import type { OwnerLocks } from './owner-locks.ts';

interface OwnerRow extends OwnerInfoRow {
  readonly lock: string;
  readonly closed_at: number | null;
}

export type Owners = ReturnType<typeof prepareOwners>;

/** The owners of the ledger. Methods that are not async are for use inside a transaction. */
export function prepareOwners(store: Store, locks: OwnerLocks) {
  const select = store.prepare(
    'SELECT run, host, pid, troubles, lock, closed_at FROM owner WHERE id = ?',
  );
  const findByLock = store.prepare('SELECT closed_at FROM owner WHERE lock = ?');
  const insert = store.prepare(
    'INSERT INTO owner (run, host, pid, lock, joined_at) VALUES (?, ?, ?, ?, ?)',
  );
  const setTroubles = store.prepare('UPDATE owner SET troubles = ? WHERE id = ?');
  const close = store.prepare('UPDATE owner SET closed_at = ? WHERE id = ? AND closed_at IS NULL');
  const open = store.prepare('SELECT id FROM owner WHERE closed_at IS NULL');
  const joined = new Map<OwnerId, string>();

  const find = (id: OwnerId) => select.get(id) as OwnerRow | undefined;
  const findAlive = (id: OwnerId): OwnerRow | undefined => {
    const row = find(id);
    return row && row.closed_at === null && locks.isHeld(row.lock) ? row : undefined;
  };
  const isAlive = (id: OwnerId) => findAlive(id) !== undefined;

  return {
    isAlive,

    async join({ run, host, pid }: OwnerInfo): Promise<OwnerId> {
      // The lock comes first: an owner whose lock is not held counts as gone.
      const lock = await store.read(() => locks.hold());
      try {
        const id = await store.write(() =>
          Number(insert.run(run, host, pid, lock, store.now()).lastInsertRowid),
        );
        joined.set(id, lock);
        return id;
      } catch (error) {
        locks.release(lock);
        throw error;
      }
    },

    async troubled(id: OwnerId, troubles: readonly string[]): Promise<void> {
      await store.write(() => void setTroubles.run(storedTroubles(troubles), id));
    },

    /** Removes lock files of owners that left or died. */
    async sweep(): Promise<void> {
      await store.read(() =>
        locks.sweep((lock) => {
          const row = findByLock.get(lock) as Pick<OwnerRow, 'closed_at'> | undefined;
          return row && row.closed_at === null;
        }),
      );
    },

    /** `finished: false`: without its lock it counts as killed. */
    async leave(id: OwnerId, finished: boolean): Promise<void> {
      const lock = joined.get(id);
      if (lock === undefined) return;
      try {
        if (finished) await store.write(() => close.run(store.now(), id));
      } catch (error) {
        // A full disk is no reason to fail a program that has all its answers: without its lock this
        // owner counts as killed, and others can continue its batches.
        store.log('note in the ledger that this owner has left', error);
      }
      joined.delete(id);
      locks.release(lock);
    },

    joined: (): OwnerId[] => [...joined.keys()],

    /** The run of an owner that is here. */
    require(id: OwnerId): string {
      const row = find(id);
      if (!row) throw ownerLost(id, 'never joined');
      if (row.closed_at !== null) throw ownerLost(id, 'has left');
      if (!locks.isHeld(row.lock)) throw ownerLost(id, 'is counted as gone by');
      return row.run;
    },

    alive(): OwnerId[] {
      const rows = open.all() as { id: OwnerId }[];
      return rows.map(({ id }) => id).filter(isAlive);
    },

    /** Finds an owner that is here. Reads each owner once; valid within one transaction. */
    living: () =>
      remembered((id: OwnerId): OwnerInfo | undefined => {
        const row = findAlive(id);
        return row && ownerInfo(row);
      }),

    /** Reads each owner once; valid within one transaction. */
    standings: (me: OwnerId, run: string) =>
      remembered((id: OwnerId): Standing => {
        const row = find(id);
        const closed = row === undefined || row.closed_at !== null;
        return {
          isMe: id === me,
          sameRun: row?.run === run,
          closed,
          alive: !closed && (id === me || locks.isHeld(row.lock)),
        };
      }),
  };
}
