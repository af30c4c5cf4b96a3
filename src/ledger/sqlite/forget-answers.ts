import type { OwnerId, RequestId } from '../ledger.ts';
import { nextTurn, ROWS_PER_TRANSACTION } from './slices.ts';
import type { Store } from './store.ts';

/** `keep: "none"`: what an owner's calls were answered goes with the owner. */
export function prepareForgetAnswers(store: Store): (owner: OwnerId) => Promise<void> {
  const select = store.prepare(
    `SELECT request.id FROM answer JOIN request ON request.id = answer.request
     WHERE request.owner = ? LIMIT ${ROWS_PER_TRANSACTION}`,
  );
  const erase = store.prepare('DELETE FROM answer WHERE request = ?');
  return async (owner) => {
    for (;;) {
      const erased = await store.write(() => {
        const rows = select.all(owner) as { id: RequestId }[];
        for (const { id } of rows) erase.run(id);
        return rows.length;
      });
      if (erased < ROWS_PER_TRANSACTION) return;
      await nextTurn();
    }
  };
}
