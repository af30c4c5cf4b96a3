import type { BatchId, OwnerId, RequestId } from '../ledger.ts';
import { type BlockId, prepareAnswers } from './answers.ts';
import { REQUEST } from './codes.ts';
import type { NewAnswers } from './new-answers.ts';
import { nextTurn } from './slices.ts';
import type { Store } from './store.ts';

interface NewBlock {
  readonly block: BlockId;
  readonly count: number;
  readonly state: number;
  readonly owner: OwnerId;
  readonly at: number;
  readonly requests: string;
}

/** A few milliseconds, and each page of a batch of 10,000 is then written four times. */
export const ENTERED_TOGETHER = 2_500;

/** Writes into the rows of members that they are answered, see `NewAnswers`. */
export function prepareEnterAnswers(store: Store): Pick<NewAnswers, 'enter' | 'enterOne'> {
  const answers = prepareAnswers(store);
  const columns = 'answer.id AS block, count, state, owner, at, answer.request AS requests';
  const joined = 'answer_new JOIN answer ON answer.id = answer_new.answer';
  const select = store.prepare(
    `SELECT ${columns} FROM ${joined} WHERE batch = ? ORDER BY answer_new.answer`,
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
  const remove = store.prepare('DELETE FROM answer_new WHERE batch = ? AND answer <= ?');

  /** `blockOf`: block ids by request, of blocks with the same state and owner as `like`. */
  const tell = (batch: BatchId, like: NewBlock, blockOf: Record<RequestId, BlockId>): number => {
    const { state, owner, at } = like;
    const changes = Number(update.run(state, owner, at, JSON.stringify(blockOf), batch).changes);
    if (changes > 0) addAnswered.run(changes, batch);
    return changes;
  };

  const tellAll = (batch: BatchId, blocks: readonly NewBlock[]): number => {
    const known = new Set<RequestId>();
    const groups = new Map<string, { like: NewBlock; blockOf: Record<RequestId, BlockId> }>();
    for (const like of blocks) {
      const key = `${like.state} ${like.owner}`;
      const group = groups.get(key) ?? { like, blockOf: {} };
      groups.set(key, group);
      for (const request of JSON.parse(like.requests) as RequestId[]) {
        // Of two answers to one request the first one counts.
        if (known.has(request)) continue;
        known.add(request);
        group.blockOf[request] = like.block;
      }
    }
    let told = 0;
    for (const { like, blockOf } of groups.values()) told += tell(batch, like, blockOf);
    return told;
  };

  /** Says whether that were all. */
  const enterSome = (batch: BatchId): boolean => {
    const all = select.all(batch) as NewBlock[];
    const blocks: NewBlock[] = [];
    let count = 0;
    for (const block of all) {
      if (count >= ENTERED_TOGETHER) break;
      blocks.push(block);
      count += block.count;
    }
    const last = blocks.at(-1);
    if (!last) return true;
    const told = tellAll(batch, blocks);
    remove.run(batch, last.block);
    if (told < count) for (const { block } of blocks) answers.eraseUnused(block);
    return blocks.length === all.length;
  };

  return {
    enterOne(batch, request, block) {
      tell(batch, find.get(block) as NewBlock, { [request]: block });
    },
    async enter(batch) {
      // A slice of its own: whoever asks for it has just written something else.
      do await nextTurn();
      while (!(await store.write(() => enterSome(batch))));
    },
  };
}
