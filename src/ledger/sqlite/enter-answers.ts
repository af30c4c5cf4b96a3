import type { BatchId } from '../ledger.ts';
import { type BlockId, prepareAnswers } from './answers.ts';
import { REQUEST } from './codes.ts';
import type { NewAnswers } from './new-answers.ts';
import { nextTurn } from './slices.ts';
import type { Store } from './store.ts';

interface NewBlock {
  readonly block: BlockId;
  readonly count: number;
  readonly requests: string;
}

/** Half a microsecond each, and each page of a batch of 10,000 is then written three times. */
export const ENTERED_TOGETHER = 4_000;

/** Writes into the rows of members that they are answered, see `NewAnswers`. */
export function prepareEnterAnswers(store: Store): Pick<NewAnswers, 'enter' | 'enterOne'> {
  const answers = prepareAnswers(store);
  const select = store.prepare(
    `SELECT answer.id AS block, answer_new.count, answer.request AS requests
     FROM answer_new JOIN answer ON answer.id = answer_new.answer
     WHERE answer_new.batch = ? ORDER BY answer_new.answer`,
  );
  // Rows that have an outcome, or left the batch, stay as they are. The plus keeps SQLite from walking
  // through all members of the batch instead.
  const update = store.prepare(
    `UPDATE request
     SET (state, owner, at, answer) =
       (SELECT state, owner, at, answer FROM answer_new WHERE answer_new.answer = ?1)
     WHERE id IN (SELECT value FROM json_each(?2)) AND +batch = ?3 AND state = ${REQUEST.planned}`,
  );
  const addAnswered = store.prepare('UPDATE batch SET answered = answered + ? WHERE id = ?');
  const remove = store.prepare('DELETE FROM answer_new WHERE batch = ? AND answer <= ?');

  const tell = (batch: BatchId, block: BlockId, requests: string): number =>
    Number(update.run(block, requests, batch).changes);

  /** Says whether that were all. */
  const enterSome = (batch: BatchId): boolean => {
    const blocks = select.all(batch) as NewBlock[];
    const unused: BlockId[] = [];
    let [answered, seen, taken] = [0, 0, 0];
    for (const { block, count, requests } of blocks) {
      if (seen >= ENTERED_TOGETHER) break;
      const told = tell(batch, block, requests);
      if (told < count) unused.push(block);
      answered += told;
      seen += count;
      taken += 1;
    }
    const last = blocks[taken - 1];
    if (last) remove.run(batch, last.block);
    if (answered > 0) addAnswered.run(answered, batch);
    for (const block of unused) answers.eraseUnused(block);
    return taken === blocks.length;
  };

  return {
    enterOne(batch, request, block) {
      if (tell(batch, block, `[${request}]`) > 0) addAnswered.run(1, batch);
    },
    async enter(batch) {
      while (!(await store.write(() => enterSome(batch)))) await nextTurn();
    },
  };
}
