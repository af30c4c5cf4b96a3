import type { OwnerId } from '../../ledger.ts';
import { Pace } from '../connection/pace.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { type BlockId, prepareAnswers } from './answers.ts';

interface BlockRow {
  readonly id: BlockId;
}

/** `keep: "none"`: what an owner's calls were answered goes with the owner. */
export function prepareForgetAnswers(store: Store): (owner: OwnerId) => Promise<void> {
  const answers = prepareAnswers(store);
  const findNext = store.prepare('SELECT id FROM answer WHERE id > ? ORDER BY id LIMIT ?');
  // The answers may be few among very many of others: what is looked at is limited, not what is found.
  const select = store.prepare(
    `SELECT id FROM answer WHERE id > ? AND id <= ? AND EXISTS (
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
    const looking = new Pace({ least: 5, most: 500 });
    const forgetting = new Pace({ least: 1, most: 20 });
    for (let last: BlockId = 0; ; await nextTurn()) {
      const from = last;
      const look = () => {
        last = (findNext.all(from, looking.rows) as BlockRow[]).at(-1)?.id ?? from;
        return select.all(from, last, owner) as BlockRow[];
      };
      const blocks = await store.read(look, { pace: looking });
      for (let at = 0; at < blocks.length; ) {
        await nextTurn();
        const slice = blocks.slice(at, at + forgetting.rows);
        at += slice.length;
        await store.write(() => forget(slice, owner), { pace: forgetting });
      }
      if (last === from) return;
    }
  };
}
