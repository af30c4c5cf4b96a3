import { crc32 } from 'node:zlib';
import type { Answer } from '../../../base/types.ts';
import type { RequestId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Answered } from '../../sql/settlements.ts';
import type { Store } from '../connection/store.ts';
import { type AnswerBlock, decodeAnswer, encodeBlock } from './answer-block.ts';

/** A block of answers that lie in one row. */
export type BlockId = number;

/** Blocks stay small: one answer is read by reading its block. */
export const ANSWERS_PER_BLOCK = 50;
const CHARACTERS_PER_BLOCK = 32_000;

/** Finds the answer of a request whose row names its block. */
export type FindAnswer = (request: {
  readonly id: RequestId;
  readonly answer: BlockId | null;
}) => Answer | undefined;

/** The stored answers, for use inside a transaction. */
export interface Answers {
  /** Reads each block once; valid within one transaction. */
  finder(): FindAnswer;
  /** The rows of the requests do not name the block yet. */
  add(group: AnswerGroup): BlockId;
  /** Erases a block if no request has its answer there, and `answer_new` does not name it. */
  eraseUnused(block: BlockId | null): void;
}

interface BlockRow {
  readonly request: string;
  readonly status: number;
  readonly headers: string;
  readonly body: Uint8Array;
  /** `null`: written before blocks had one. */
  readonly crc: number | null;
}

type LoadedBlock = AnswerBlock & { readonly requests: readonly RequestId[] };

const BLOCKS_IN_MEMORY = 100;

export function prepareAnswers(
  store: Pick<Store, 'prepare'> & Partial<Pick<Store, 'tellDamaged'>>,
): Answers {
  const find = store.prepare('SELECT request, status, headers, body, crc FROM answer WHERE id = ?');
  const add = store.prepare(
    'INSERT INTO answer (request, status, headers, body, crc) VALUES (?, ?, ?, ?, ?)',
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
    // Its answers count as missing: to pay for them again is better than a wrong answer.
    if (row.crc !== null && row.crc !== checksumOf(row)) {
      store.tellDamaged?.();
      return undefined;
    }
    const { status, body: bytes } = row;
    return { status, bytes, headers: JSON.parse(row.headers), requests: JSON.parse(row.request) };
  };

  return {
    finder() {
      const loaded = new Map<BlockId, LoadedBlock | undefined>();
      return ({ id, answer }) => {
        if (answer === null) return undefined;
        if (!loaded.has(answer)) {
          if (loaded.size >= BLOCKS_IN_MEMORY) loaded.clear();
          loaded.set(answer, load(answer));
        }
        const block = loaded.get(answer);
        const place = block?.requests.indexOf(id) ?? -1;
        return block && place >= 0 ? decodeAnswer(block, place, block.requests.length) : undefined;
      };
    },
    add({ requests, answers }) {
      const { status, headers: shared, bytes: body } = encodeBlock(answers);
      const row = {
        request: JSON.stringify(requests),
        status,
        headers: JSON.stringify(shared),
        body,
      };
      const { request, headers } = row;
      return Number(add.run(request, status, headers, body, checksumOf(row)).lastInsertRowid);
    },
    eraseUnused(block) {
      if (block !== null) eraseUnused.run(block);
    },
  };
}

function checksumOf({ request, status, headers, body }: Omit<BlockRow, 'crc'>): number {
  return crc32(body, crc32(`${request}\n${status}\n${headers}`));
}

/** Answers that go into one block. All of them have the same status. */
export interface AnswerGroup {
  readonly requests: RequestId[];
  readonly answers: [Answer, ...Answer[]];
}

/**
 * Answers come in any order. Sorted, those of a block were asked for at about the same time: a run that
 * asks again reads them together, and old ones are pruned together. The first one of two answers to
 * a request counts.
 */
export function groupsOf(settlements: readonly Answered[]): AnswerGroup[] {
  const groups: AnswerGroup[] = [];
  const open = new Map<number, AnswerGroup & { characters: number }>();
  let last: RequestId | undefined;
  for (const { request, answer } of [...settlements].sort((a, b) => a.request - b.request)) {
    if (request === last) continue;
    last = request;
    const size = answer.body.length;
    const group = open.get(answer.status);
    const isFull =
      group === undefined ||
      group.requests.length >= ANSWERS_PER_BLOCK ||
      group.characters + size > CHARACTERS_PER_BLOCK;
    if (isFull) {
      const next = { requests: [request], answers: [answer] as [Answer], characters: size };
      open.set(answer.status, next);
      groups.push(next);
    } else {
      group.requests.push(request);
      group.answers.push(answer);
      group.characters += size;
    }
  }
  return groups;
}

/** The state of a request with an answer of this status. */
export function finalState(status: number): number {
  return status >= 200 && status < 300 ? REQUEST.answered : REQUEST.failed;
}
