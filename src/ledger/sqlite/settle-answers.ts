import type { Answer } from '../../types.ts';
import type { BatchId, OwnerId, RequestId } from '../ledger.ts';
import { ANSWERS_PER_BLOCK, CHARACTERS_PER_BLOCK, prepareAnswers } from './answers.ts';
import { REQUEST } from './codes.ts';
import type { Store } from './store.ts';

/** Writes answers, inside a transaction. Returns which requests took theirs, see `SettleOne`. */
export type SettleAnswers = (
  answers: ReadonlyMap<RequestId, Answer>,
  owner: OwnerId,
  batch: BatchId | undefined,
) => RequestId[];

interface Group {
  readonly requests: RequestId[];
  readonly answers: [Answer, ...Answer[]];
  characters: number;
}

export function prepareSettleAnswers(store: Store): SettleAnswers {
  const blocks = prepareAnswers(store);
  const prepareUpdate = (condition: string) =>
    store.prepare(
      `UPDATE request SET state = ?, owner = ?, at = ?, answer = ?
       WHERE id IN (SELECT value FROM json_each(?)) AND ${condition}`,
    );
  // The plus keeps SQLite from walking through all members of the batch instead.
  const member = prepareUpdate(`+batch = ? AND state = ${REQUEST.planned}`);
  const loose = prepareUpdate(`owner = ? AND state = ${REQUEST.admitted} AND batch IS NULL`);
  const findTaken = store.prepare(
    'SELECT id FROM request WHERE id IN (SELECT value FROM json_each(?)) AND answer = ?',
  );

  const settleGroup = (group: Group, owner: OwnerId, batch: BatchId | undefined): RequestId[] => {
    const [{ status }] = group.answers;
    const state = status >= 200 && status < 300 ? REQUEST.answered : REQUEST.failed;
    const requests = JSON.stringify(group.requests);
    const block = blocks.add(requests, group.answers);
    const update = batch === undefined ? loose : member;
    const { changes } = update.run(state, owner, store.now(), block, requests, batch ?? owner);
    if (Number(changes) === group.requests.length) return group.requests;
    const taken = findTaken.all(requests, block) as { id: RequestId }[];
    blocks.eraseUnused(block);
    return taken.map(({ id }) => id);
  };

  return (answers, owner, batch) =>
    groupsOf(answers).flatMap((group) => settleGroup(group, owner, batch));
}

/**
 * Answers come in any order. Sorted, those of a block were asked for at about the same time: they are
 * read together by a run that asks again, and old ones leave together.
 */
function groupsOf(answers: ReadonlyMap<RequestId, Answer>): Group[] {
  const groups: Group[] = [];
  const open = new Map<number, Group>();
  for (const [request, answer] of [...answers].sort(([a], [b]) => a - b)) {
    const size = answer.body.length;
    const group = open.get(answer.status);
    const isFull =
      group === undefined ||
      group.requests.length >= ANSWERS_PER_BLOCK ||
      group.characters + size > CHARACTERS_PER_BLOCK;
    if (isFull) {
      const next: Group = { requests: [request], answers: [answer], characters: size };
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
