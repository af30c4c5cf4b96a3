import type { Ledger, OwnerId, RequestId, Settlement } from '../../ledger.ts';
import {
  type Answered,
  type AnswerGroup,
  groupsOf,
  prepareAnswers,
  stateOf,
} from '../answers/answers.ts';
import { inSlices, settlementSize } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { REQUEST } from '../schema/codes.ts';
import { prepareEraseBodies } from './bodies.ts';

/** SQL: a request of an owner that is in no batch and has no outcome. */
const OPEN_REQUEST = `id = ? AND owner = ? AND state = ${REQUEST.admitted} AND batch IS NULL`;

export function prepareWithdraw(store: Store, owners: Owners): Ledger['withdraw'] {
  const remove = store.prepare(`DELETE FROM request WHERE ${OPEN_REQUEST}`);
  const bodies = prepareEraseBodies(store);
  return async (owner, requests) => {
    await inSlices(requests, (slice) =>
      store.write(() => {
        owners.require(owner);
        bodies.of(slice.filter((request) => remove.run(request, owner).changes));
      }),
    );
    store.touch();
  };
}

export function prepareSettled(store: Store, owners: Owners): Ledger['settled'] {
  const settleAnswers = prepareSettleAnswers(store);
  const settleOne = prepareSettleOne(store, OPEN_REQUEST);
  const bodies = prepareEraseBodies(store);

  const settleAll = (settlements: readonly Settlement[], owner: OwnerId) => {
    owners.require(owner);
    const over: RequestId[] = [];
    const waiting = new Map<RequestId, Answered>();
    const writeAnswers = () => {
      const answered = settleAnswers([...waiting.values()], owner);
      if (store.keep !== 'all') for (const request of answered) over.push(request);
      waiting.clear();
    };
    for (const settlement of settlements) {
      const { is, request } = settlement;
      // Outcomes of one request are written in their order: the first final one wins.
      if (waiting.has(request)) writeAnswers();
      if (settlement.is === 'answer') waiting.set(request, settlement);
      else if (settleOne(settlement, owner, owner) && is === 'release') over.push(request);
    }
    writeAnswers();
    bodies.of(over);
  };

  return async (owner, settlements) => {
    await inSlices(settlements, (slice) => store.write(() => settleAll(slice, owner)), {
      sizeOf: settlementSize,
    });
    store.touch();
  };
}

/** Writes an outcome without an answer, inside a transaction. False: the row does not allow it. */
type SettleOne = (
  settlement: Exclude<Settlement, { is: 'answer' }>,
  owner: OwnerId,
  /** The second value of the condition. */
  value: number,
) => boolean;

/** `condition`: which rows may have an outcome, by their id and one more value. */
export function prepareSettleOne(store: Store, condition: string): SettleOne {
  const retry = store.prepare(
    `UPDATE request SET state = ${REQUEST.admitted}, owner = ?, at = ?, attempt = attempt + 1,
       batch = NULL, seq = NULL
     WHERE ${condition}`,
  );
  const release = store.prepare(`DELETE FROM request WHERE ${condition}`);
  return ({ request, is }, owner, value) => {
    switch (is) {
      case 'retry':
        return Boolean(retry.run(owner, store.now(), request, value).changes);
      case 'release':
        return Boolean(release.run(request, value).changes);
    }
  };
}

/** Writes answers inside a transaction. Returns which requests took theirs. */
function prepareSettleAnswers(
  store: Store,
): (settlements: readonly Answered[], owner: OwnerId) => RequestId[] {
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
    const block = blocks.add(group);
    const { changes } = update.run(stateOf(group), store.now(), block, requests, owner);
    if (Number(changes) === group.requests.length) return group.requests;
    const taken = findTaken.all(requests, block) as { id: RequestId }[];
    blocks.eraseUnused(block);
    return taken.map(({ id }) => id);
  };

  return (settlements, owner) =>
    groupsOf(settlements).flatMap((group) => settleGroup(group, owner));
}
