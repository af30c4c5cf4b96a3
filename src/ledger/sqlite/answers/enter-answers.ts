import type { BatchId } from '../../ledger.ts';
import { Pace } from '../connection/pace.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { prepareEraseBodies } from '../requests/erase-bodies.ts';
import { REQUEST } from '../schema/codes.ts';
import { type Entries, entriesOf, type NewBlock } from './answer-entries.ts';
import { prepareAnswers } from './answers.ts';
import type { NewAnswers } from './new-answers.ts';

type NewRow = NewBlock & { readonly id: number; readonly count: number };

/** As many as most batches have, so that each page of their rows is written about once. */
export const ENTERED_TOGETHER = 10_000;

/** Writes into the rows of members that they are answered, see `NewAnswers`. */
export function prepareEnterAnswers(store: Store): Pick<NewAnswers, 'enter' | 'enterOne'> {
  const answers = prepareAnswers(store);
  const bodies = prepareEraseBodies(store);
  const columns = `answer_new.id, answer_new.answer AS block, count, state, owner, at,
    answer.request AS requests`;
  const joined = 'answer_new LEFT JOIN answer ON answer.id = answer_new.answer';
  const select = store.prepare(
    `SELECT ${columns} FROM ${joined} WHERE batch = ? ORDER BY answer_new.id`,
  );
  const find = store.prepare(`SELECT ${columns} FROM ${joined} WHERE answer_new.answer = ?`);
  // Rows that have an outcome, or left the batch, stay as they are. The plus keeps SQLite from walking
  // through all members of the batch instead.
  const update = store.prepare(
    `UPDATE request SET state = ?1, owner = ?2, at = ?3, answer = block.value
     FROM json_each(?4) AS block
     WHERE request.id = CAST(block.key AS INTEGER)
       AND +request.batch = ?5 AND request.state = ${REQUEST.planned}`,
  );
  const addAnswered = store.prepare('UPDATE batch SET answered = answered + ? WHERE id = ?');
  const remove = store.prepare('DELETE FROM answer_new WHERE batch = ? AND id <= ?');

  const pace = new Pace({ least: 100, most: 1_500 });

  const tell = (batch: BatchId, { requests, blocks }: Omit<Entries, 'isLast'>): number => {
    if (store.keep !== 'all') bodies.ofMembers(requests, batch);
    let told = 0;
    for (const [{ state, owner, at }, text] of blocks) {
      told += Number(update.run(state, owner, at, text, batch).changes);
    }
    if (told > 0) addAnswered.run(told, batch);
    return told;
  };
  const finish = (batch: BatchId, rows: readonly NewRow[], all: boolean) => {
    remove.run(batch, (rows.at(-1) as NewRow).id);
    if (!all) for (const { block } of rows) answers.eraseUnused(block);
  };

  /**
   * In several transactions. After a crash in between some rows know and some do not, and all are told
   * again by the next one; ids of new blocks are never used again, so nothing that came later is removed.
   */
  const enterRows = async (batch: BatchId, rows: readonly NewRow[]) => {
    const count = rows.reduce((sum, row) => sum + row.count, 0);
    let told = 0;
    // Each a turn of its own: whoever asks for this has just written something else.
    await nextTurn();
    for (const slice of entriesOf(rows, pace)) {
      const work = () => {
        const changes = tell(batch, slice);
        if (slice.isLast) finish(batch, rows, told + changes === count);
        return changes;
      };
      told += await store.write(work, { pace, rows: slice.requests.length });
      await nextTurn();
    }
  };

  return {
    enterOne(batch, request, block) {
      const row = find.get(block) as NewRow;
      tell(batch, { requests: [request], blocks: new Map([[row, `{"${request}":${block}}`]]) });
    },
    async enter(batch) {
      for (;;) {
        const found = (await store.read(() => select.all(batch))) as NewRow[];
        if (found.length === 0) return;
        await enterRows(batch, firstOf(found));
      }
    },
  };
}

function firstOf(rows: readonly NewRow[]): readonly NewRow[] {
  let count = 0;
  const end = rows.findIndex((row) => {
    count += row.count;
    return count >= ENTERED_TOGETHER;
  });
  return end < 0 ? rows : rows.slice(0, end + 1);
}
