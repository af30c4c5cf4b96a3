import type { BatchId, Lease, OwnerId, RequestId } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { type AnswerGroup, stateOf } from './answer-groups.ts';
import { type BlockId, prepareAnswers } from './answers.ts';
import { prepareEnterAnswers } from './enter-answers.ts';

/** Finds the block of a member that has its answer but does not know it yet. */
export type FindNewAnswer = (batch: BatchId, request: RequestId) => BlockId | undefined;

/**
 * Answers of members as they come in: appended in blocks, while the rows of the requests are left as they
 * are. In any order nearly every answer would dirty another page of them. The rows are told when
 * thousands have come together, and at the latest before their batch ends or changes hands. Until then
 * the blocks are the truth, for every process: who reads a planned row has to look here.
 *
 * What is not async is for use inside a transaction.
 */
export interface NewAnswers {
  add(group: AnswerGroup, lease: Lease): void;
  /** Reads the blocks of each batch once; valid within one transaction. */
  finder(): FindNewAnswer;
  /** Tells one row. */
  enterOne(batch: BatchId, request: RequestId, block: BlockId): void;
  /** How many answers of a batch there are that rows do not know. */
  count(batch: BatchId): number;
  /** Tells all rows of a batch. Anybody may do it, at any time. */
  enter(batch: BatchId): Promise<void>;
  /** The same for all batches whose answers this owner has collected. */
  enterAllOf(owner: OwnerId): Promise<void>;
}

export function prepareNewAnswers(store: Store): NewAnswers {
  const blocks = prepareAnswers(store);
  const insert = store.prepare(
    `INSERT INTO answer_new (answer, batch, count, state, owner, at) VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const count = store.prepare('SELECT sum(count) AS answers FROM answer_new WHERE batch = ?');
  const select = store.prepare(
    `SELECT answer.id AS block, answer.request AS requests
     FROM answer_new JOIN answer ON answer.id = answer_new.answer
     WHERE answer_new.batch = ? ORDER BY answer_new.id`,
  );
  const batchesOf = store.prepare('SELECT DISTINCT batch FROM answer_new WHERE owner = ?');
  const { enter, enterOne } = prepareEnterAnswers(store);

  const blocksOf = (batch: BatchId): Map<RequestId, BlockId> => {
    const found = new Map<RequestId, BlockId>();
    for (const { block, requests } of select.all(batch) as { block: BlockId; requests: string }[]) {
      for (const request of JSON.parse(requests) as RequestId[]) {
        // Of two answers to one request the first one counts.
        if (!found.has(request)) found.set(request, block);
      }
    }
    return found;
  };

  return {
    add(group, { batch, owner }) {
      const { requests, answers } = group;
      const block = blocks.add(JSON.stringify(requests), answers);
      insert.run(block, batch, requests.length, stateOf(group), owner, store.now());
    },
    finder() {
      const known = new Map<BatchId, Map<RequestId, BlockId>>();
      return (batch, request) => {
        const found = known.get(batch) ?? blocksOf(batch);
        known.set(batch, found);
        return found.get(request);
      };
    },
    count: (batch) => (count.get(batch) as { answers: number | null }).answers ?? 0,
    enterOne,
    enter,
    async enterAllOf(owner) {
      const rows = (await store.read(() => batchesOf.all(owner))) as { batch: BatchId }[];
      for (const { batch } of rows) await enter(batch);
    },
  };
}
