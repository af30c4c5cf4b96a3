import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { BatchId, Lease, OwnerId, RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';
import { prepareEraseBodies } from '../requests/bodies.ts';
import { type AnswerGroup, type BlockId, finalState, prepareAnswers } from './answers.ts';

/** A row of `answer_new`. Ids are never used again. */
type NewAnswerId = number;

interface NewRow {
  readonly id: NewAnswerId;
  readonly block: BlockId;
  readonly count: number;
  /** A JSON list; `null`: the block is gone. */
  readonly requests: string | null;
}

/**
 * Answers of members that their rows do not name yet. Answers come in any order, so writing each into
 * its row would dirty nearly every page of rows for every few answers. They are appended in blocks
 * instead, and `answer_new` lists these blocks. The rows are written when 10,000 answers have come
 * together, and at the latest before their batch ends or changes its owner. Until then the blocks are
 * the truth, for every process: a reader of a row in the state `planned` has to look here.
 *
 * The methods that are not async are for use inside a transaction.
 */
export interface NewAnswers {
  add(group: AnswerGroup, lease: Lease): void;
  /** Finds the answer of a member. Reads the blocks of each batch once; valid in one transaction. */
  finder(): (batch: BatchId, request: RequestId) => NewAnswerId | undefined;
  /** Writes one answer into the row of its request. */
  enterOne(batch: BatchId, request: RequestId, answer: NewAnswerId): void;
  /** How many answers of a batch the rows do not name yet. */
  count(batch: BatchId): number;
  /** Writes all answers of a batch into the rows. Any process may do it, at any time. */
  enter(batch: BatchId): Promise<void>;
  /** The same for all batches whose answers this owner has collected. */
  enterAllOf(owner: OwnerId): Promise<void>;
}

/** As many as most batches have, so that each page of rows is written about once. */
export const ENTERED_TOGETHER = 10_000;
const ROWS_PER_TRANSACTION = 1_000;

/** SQL: how many answers a batch has, those included that the rows do not name yet. */
export const answeredNow = `answered + (
  SELECT count(DISTINCT request.id)
  FROM answer_new JOIN answer ON answer.id = answer_new.answer
    CROSS JOIN json_each(answer.request) AS member CROSS JOIN request ON request.id = member.value
  WHERE answer_new.batch = batch.id AND +request.batch = batch.id
    AND request.state = ${REQUEST.planned})`;

export function prepareNewAnswers(store: Store): NewAnswers {
  const answers = prepareAnswers(store);
  const bodies = prepareEraseBodies(store);
  const insert = store.prepare(
    'INSERT INTO answer_new (answer, batch, count, state, owner, at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const sum = store.prepare('SELECT sum(count) AS answers FROM answer_new WHERE batch = ?');
  const select = store.prepare(
    `SELECT answer_new.id, answer_new.answer AS block, count, answer.request AS requests
     FROM answer_new LEFT JOIN answer ON answer.id = answer_new.answer
     WHERE batch = ? ORDER BY answer_new.id`,
  );
  const batchesOf = store.prepare('SELECT DISTINCT batch FROM answer_new WHERE owner = ?');
  // Rows that have an outcome, or left the batch, stay as they are. The plus keeps SQLite from walking
  // through all members of the batch instead.
  const update = store.prepare(
    `UPDATE request SET state = new.state, owner = new.owner, at = new.at, answer = new.answer
     FROM json_each(?1) AS entry CROSS JOIN answer_new AS new
     WHERE new.id = entry.value AND request.id = CAST(entry.key AS INTEGER)
       AND +request.batch = ?2 AND request.state = ${REQUEST.planned}`,
  );
  const addAnswered = store.prepare('UPDATE batch SET answered = answered + ? WHERE id = ?');
  const remove = store.prepare('DELETE FROM answer_new WHERE batch = ? AND id <= ?');

  const write = (batch: BatchId, entries: readonly (readonly [RequestId, NewAnswerId])[]) => {
    if (store.keep !== 'all') {
      bodies.ofMembers(
        entries.map(([request]) => request),
        batch,
      );
    }
    const json = `{${entries.map(([request, id]) => `"${request}":${id}`).join()}}`;
    const written = Number(update.run(json, batch).changes);
    if (written > 0) addAnswered.run(written, batch);
    return written;
  };

  /**
   * Takes several transactions. After a crash in between some rows are written and some are not, and
   * the next `enter` writes all of them again.
   */
  const enterRows = async (batch: BatchId, rows: readonly NewRow[]) => {
    const found = firstAnswers(rows);
    // In the order of the rows: each page of them is written once or twice.
    const requests = Float64Array.from(found.keys()).sort();
    let written = 0;
    for (let at = 0; at < requests.length; at += ROWS_PER_TRANSACTION) {
      await nextTurn();
      const slice = requests.subarray(at, at + ROWS_PER_TRANSACTION);
      const entries = Array.from(slice, (id) => [id, found.get(id) as NewAnswerId] as const);
      written += await store.write(() => write(batch, entries));
    }
    const count = rows.reduce((total, row) => total + row.count, 0);
    await store.write(() => {
      remove.run(batch, (rows.at(-1) as NewRow).id);
      if (written < count) for (const { block } of rows) answers.eraseUnused(block);
    });
  };
  const enter = async (batch: BatchId) => {
    for (;;) {
      const rows = (await store.read(() => select.all(batch))) as NewRow[];
      if (rows.length === 0) return;
      // Reading takes milliseconds, and so does sorting.
      await nextTurn();
      await enterRows(batch, enough(rows));
      await nextTurn();
    }
  };

  return {
    add(group, { batch, owner }) {
      const block = answers.add(group);
      const state = finalState(group.answers[0].status);
      insert.run(block, batch, group.requests.length, state, owner, store.now());
    },
    finder() {
      const known = new Map<BatchId, Map<RequestId, NewAnswerId>>();
      return (batch, request) => {
        const found = known.get(batch) ?? firstAnswers(select.all(batch) as NewRow[]);
        known.set(batch, found);
        return found.get(request);
      };
    },
    count: (batch) => (sum.get(batch) as { answers: number | null }).answers ?? 0,
    enterOne: (batch, request, answer) => void write(batch, [[request, answer]]),
    enter,
    async enterAllOf(owner) {
      const rows = (await store.read(() => batchesOf.all(owner))) as { batch: BatchId }[];
      for (const { batch } of rows) await enter(batch);
    },
  };
}

/** The first one of two answers to a request counts. */
function firstAnswers(rows: readonly NewRow[]): Map<RequestId, NewAnswerId> {
  const found = new Map<RequestId, NewAnswerId>();
  for (const { id, requests } of rows) {
    for (const request of JSON.parse(requests ?? '[]') as RequestId[]) {
      if (!found.has(request)) found.set(request, id);
    }
  }
  return found;
}

function enough(rows: readonly NewRow[]): readonly NewRow[] {
  let count = 0;
  const end = rows.findIndex((row) => {
    count += row.count;
    return count >= ENTERED_TOGETHER;
  });
  return end < 0 ? rows : rows.slice(0, end + 1);
}
