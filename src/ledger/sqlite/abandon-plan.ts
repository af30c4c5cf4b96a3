import type { BatchId, OwnerId } from '../ledger.ts';
import { BATCH } from './codes.ts';
import { prepareFreeMembers } from './free-members.ts';
import { nextTurn } from './slices.ts';
import type { Store } from './store.ts';

/** Undoes a plan that was not finished: its requests are free again and the batch never was. */
export function prepareAbandonPlan(store: Store): (batch: BatchId) => Promise<void> {
  const find = store.prepare(`SELECT owner FROM batch WHERE id = ? AND state = ${BATCH.planning}`);
  const remove = store.prepare(`DELETE FROM batch WHERE id = ? AND state = ${BATCH.planning}`);
  const freeMembers = prepareFreeMembers(store);
  return async (batch) => {
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
    store.touch();
  };
}
