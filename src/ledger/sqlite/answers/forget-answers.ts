import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { OwnerId } from '../../ledger.ts';
import { inSlices } from '../../sql/slices.ts';
import type { Store } from '../connection/store.ts';
import { type BlockId, prepareAnswers } from './answers.ts';

interface BlockRow {
  readonly id: BlockId;
  readonly bytes: number;
}

const BLOCKS_READ_AT_ONCE = 50;
const BLOCKS_PER_TRANSACTION = 20;

/** `keep: "none"`: the answers of an owner's requests are erased when the owner leaves. */
export function prepareForgetAnswers(store: Store): (owner: OwnerId) => Promise<void> {
  const answers = prepareAnswers(store);
  // An owner may have few answers among very many of others, so what is read at once is limited.
  const findEnd = store.prepare(
    `SELECT max(id) AS id FROM (
       SELECT id FROM answer WHERE id > ? ORDER BY id LIMIT ${BLOCKS_READ_AT_ONCE}
     )`,
  );
  const select = store.prepare(
    `SELECT id, octet_length(body) AS bytes FROM answer WHERE id > ? AND id <= ? AND EXISTS (
       SELECT 1 FROM json_each(answer.request) AS member JOIN request ON request.id = member.value
       WHERE request.answer = answer.id AND request.owner = ?
     )
     ORDER BY id`,
  );
  const unlink = store.prepare(
    `UPDATE request SET answer = NULL
     WHERE id IN (SELECT value FROM answer, json_each(answer.request) WHERE answer.id = ?1)
       AND answer = ?1 AND owner = ?2`,
  );
  const forget = (blocks: readonly BlockRow[], owner: OwnerId) => {
    for (const { id } of blocks) {
      unlink.run(id, owner);
      answers.eraseUnused(id);
    }
  };

  return async (owner) => {
    const slices = { rows: BLOCKS_PER_TRANSACTION, sizeOf: ({ bytes }: BlockRow) => bytes };
    let last: BlockId = 0;
    for (;;) {
      const from = last;
      const { id: to } = (await store.read(() => findEnd.get(from))) as { id: BlockId | null };
      if (to === null) return;
      const blocks = (await store.read(() => select.all(from, to, owner))) as BlockRow[];
      await nextTurn();
      if (blocks.length > 0) {
        await inSlices(blocks, (slice) => store.write(() => forget(slice, owner)), slices);
      }
      last = to;
    }
  };
}
