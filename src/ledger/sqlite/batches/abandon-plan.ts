import type { BatchId, OwnerId } from '../../ledger.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { prepareFreeMembers } from '../requests/free-members.ts';
import { BATCH } from '../schema/codes.ts';

/** Undoes plans that were not finished: their requests are free again and the batches never were. */
export interface AbandonPlan {
  (batch: BatchId): Promise<void>;
  /** If it cannot be done now it is done by a later `rest`. */
  orLater(batch: BatchId): Promise<void>;
  isDone(): boolean;
  /** What could not be undone before. Whoever goes on without it meets the same trouble and reports it. */
  rest(): Promise<void>;
}

export function prepareAbandonPlan(store: Store): AbandonPlan {
  const find = store.prepare(`SELECT owner FROM batch WHERE id = ? AND state = ${BATCH.planning}`);
  const remove = store.prepare(`DELETE FROM batch WHERE id = ? AND state = ${BATCH.planning}`);
  const freeMembers = prepareFreeMembers(store);
  const later = new Set<BatchId>();

  const abandon = async (batch: BatchId) => {
    for (;;) {
      const done = await store.write(() => {
        const row = find.get(batch) as { owner: OwnerId } | undefined;
        if (row && !freeMembers(batch, row.owner)) return false;
        remove.run(batch);
        return true;
      });
      if (done) break;
      await nextTurn();
    }
    later.delete(batch);
    store.touch();
  };
  const orLater = async (batch: BatchId) => {
    later.add(batch);
    await abandon(batch).catch(() => {});
  };
  const rest = async () => {
    for (const batch of later) await orLater(batch);
  };
  return Object.assign(abandon, { orLater, isDone: () => later.size === 0, rest });
}
