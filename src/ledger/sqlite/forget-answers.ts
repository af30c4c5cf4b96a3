import type { OwnerId } from '../ledger.ts';
import { ANSWERS_PER_BLOCK, type BlockId, prepareAnswers } from './answers.ts';
import { nextTurn, ROWS_PER_TRANSACTION } from './slices.ts';
import type { Store } from './store.ts';

const BLOCKS_PER_TRANSACTION = Math.floor(ROWS_PER_TRANSACTION / ANSWERS_PER_BLOCK);

/** `keep: "none"`: what an owner's calls were answered goes with the owner. */
export function prepareForgetAnswers(store: Store): (owner: OwnerId) => Promise<void> {
  const answers = prepareAnswers(store);
  const select = store.prepare(
    `SELECT id FROM answer WHERE id > ? AND EXISTS (
       SELECT 1 FROM json_each(answer.request) AS member JOIN request ON request.id = member.value
       WHERE request.answer = answer.id AND request.owner = ?
     )
     ORDER BY id LIMIT ${BLOCKS_PER_TRANSACTION}`,
  );
  const unlink = store.prepare(
    `UPDATE request SET answer = NULL
     WHERE id IN (SELECT value FROM answer, json_each(answer.request) WHERE answer.id = ?1)
       AND answer = ?1 AND owner = ?2`,
  );
  return async (owner) => {
    let last: BlockId = 0;
    for (;;) {
      const blocks = await store.write(() => {
        const rows = select.all(last, owner) as { id: BlockId }[];
        for (const { id } of rows) {
          unlink.run(id, owner);
          answers.eraseUnused(id);
        }
        return rows;
      });
      if (blocks.length < BLOCKS_PER_TRANSACTION) return;
      last = (blocks.at(-1) as { id: BlockId }).id;
      await nextTurn();
    }
  };
}
