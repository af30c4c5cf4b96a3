import type { OwnerId, RequestId } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { REQUEST } from '../schema/codes.ts';
import { type Answered, type AnswerGroup, groupsOf, stateOf } from './answer-groups.ts';
import { prepareAnswers } from './answers.ts';

/**
 * Writes answers of requests that are in no batch, inside a transaction. Returns which of them took
 * theirs, see `SettleOne`.
 */
export type SettleAnswers = (settlements: readonly Answered[], owner: OwnerId) => RequestId[];

export function prepareSettleAnswers(store: Store): SettleAnswers {
  const blocks = prepareAnswers(store);
  const update = store.prepare(
    `UPDATE request SET state = ?1, at = ?2, answer = ?3
     WHERE id IN (SELECT value FROM json_each(?4))
       AND owner = ?5 AND state = ${REQUEST.admitted} AND batch IS NULL`,
  );
  const findTaken = store.prepare(
    'SELECT id FROM request WHERE id IN (SELECT value FROM json_each(?)) AND answer = ?',
  );

  const settleGroup = (group: AnswerGroup, owner: OwnerId): RequestId[] => {
    const requests = JSON.stringify(group.requests);
    const block = blocks.add(requests, group.answers);
    const { changes } = update.run(stateOf(group), store.now(), block, requests, owner);
    if (Number(changes) === group.requests.length) return group.requests;
    const taken = findTaken.all(requests, block) as { id: RequestId }[];
    blocks.eraseUnused(block);
    return taken.map(({ id }) => id);
  };

  return (settlements, owner) =>
    groupsOf(settlements).flatMap((group) => settleGroup(group, owner));
}
