import type { OwnerId, RequestId } from '../ledger.ts';
import type { AnswerId } from './answers.ts';
import { nextTurn, ROWS_PER_TRANSACTION } from './slices.ts';
import type { Store } from './store.ts';

/** `keep: "none"`: what an owner's calls were answered goes with the owner. */
export function prepareForgetAnswers(store: Store): (owner: OwnerId) => Promise<void> {
  const select = store.prepare(
    `SELECT answer.id, request.id AS request FROM answer JOIN request ON request.id = answer.request
     WHERE request.owner = ? LIMIT ${ROWS_PER_TRANSACTION}`,
  );
  const erase = store.prepare('DELETE FROM answer WHERE id = ?');
  const unlink = store.prepare('UPDATE request SET answer = NULL WHERE id = ?');
  return async (owner) => {
    for (;;) {
      const erased = await store.write(() => {
        const rows = select.all(owner) as { id: AnswerId; request: RequestId }[];
        for (const { id, request } of rows) {
          erase.run(id);
          unlink.run(request);
        }
        return rows.length;
      });
      if (erased < ROWS_PER_TRANSACTION) return;
      await nextTurn();
    }
  };
}
