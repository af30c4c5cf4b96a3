import type { Answer } from '../../../types.ts';
import type { RequestId } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { type AnswerBlock, decodeAnswer, encodeBlock } from './answer-block.ts';

/** A block of answers that lie in one row. */
export type BlockId = number;

/** Blocks stay small: one answer is read by reading its block. */
export const ANSWERS_PER_BLOCK = 50;
export const CHARACTERS_PER_BLOCK = 32_000;

/** Finds the answer of a request that knows its block. */
export type FindAnswer = (request: {
  readonly id: RequestId;
  readonly answer: BlockId | null;
}) => Answer | undefined;

/** The stored answers, for use inside a transaction. */
export interface Answers {
  /** Reads each block once; valid within one transaction. */
  finder(): FindAnswer;
  /** `requests`: a JSON list of their ids, which have to be told the id of the block. */
  add(requests: string, answers: readonly [Answer, ...Answer[]]): BlockId;
  /** Erases a block if no request has its answer there any more, or will be told that it has. */
  eraseUnused(block: BlockId | null): void;
}

interface BlockRow {
  readonly request: string;
  readonly status: number;
  readonly headers: string;
  readonly body: Uint8Array;
}

type LoadedBlock = AnswerBlock & { readonly requests: readonly RequestId[] };

const BLOCKS_AT_HAND = 100;

export function prepareAnswers(store: Store): Answers {
  const find = store.prepare('SELECT request, status, headers, body FROM answer WHERE id = ?');
  const add = store.prepare(
    'INSERT INTO answer (request, status, headers, body) VALUES (?, ?, ?, ?)',
  );
  const eraseUnused = store.prepare(
    `DELETE FROM answer
     WHERE id = ? AND id NOT IN (SELECT answer FROM answer_new) AND NOT EXISTS (
       SELECT 1 FROM json_each(answer.request) AS member JOIN request ON request.id = member.value
       WHERE request.answer = answer.id
     )`,
  );

  const load = (id: BlockId): LoadedBlock | undefined => {
    const row = find.get(id) as BlockRow | undefined;
    if (!row) return undefined;
    const { status, body: bytes } = row;
    return { status, bytes, headers: JSON.parse(row.headers), requests: JSON.parse(row.request) };
  };

  return {
    finder() {
      const loaded = new Map<BlockId, LoadedBlock | undefined>();
      return ({ id, answer }) => {
        if (answer === null) return undefined;
        if (!loaded.has(answer)) {
          if (loaded.size >= BLOCKS_AT_HAND) loaded.clear();
          loaded.set(answer, load(answer));
        }
        const block = loaded.get(answer);
        const place = block?.requests.indexOf(id) ?? -1;
        return block && place >= 0 ? decodeAnswer(block, place, block.requests.length) : undefined;
      };
    },
    add(requests, answers) {
      const { status, headers, bytes } = encodeBlock(answers);
      return Number(add.run(requests, status, JSON.stringify(headers), bytes).lastInsertRowid);
    },
    eraseUnused(block) {
      if (block !== null) eraseUnused.run(block);
    },
  };
}
