import type { Ledger, OwnerId, Settlement } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { type Answered, firstOfEach } from '../../sql/settlements.ts';
import { inSlices, settlementSize } from '../../sql/slices.ts';
import { finalState, prepareAnswers } from '../answers/answers.ts';
import { prepareAddOrdinaryCosts } from '../batches/daily-costs.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
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

/** The place in its batch is free in a request without one: 1 says that it is on the wire as an ordinary call. */
export function prepareMarkSent(store: Store, owners: Owners): Ledger['markSent'] {
  const mark = store.prepare(`UPDATE request SET seq = ? WHERE ${OPEN_REQUEST}`);
  return (owner, requests, sent) =>
    inSlices(requests, (slice) =>
      store.write(() => {
        owners.require(owner);
        for (const request of slice) mark.run(sent ? 1 : null, request, owner);
      }),
    );
}

export function prepareSettled(store: Store, owners: Owners): Ledger['settled'] {
  const answers = prepareAnswers(store);
  const answer = store.prepare(
    `UPDATE request SET state = ?, at = ?, answer = ?, seq = NULL WHERE ${OPEN_REQUEST}`,
  );
  const settleOther = prepareSettleOne(store, OPEN_REQUEST);
  const bodies = prepareEraseBodies(store);
  const addCosts = prepareAddOrdinaryCosts(store);

  const settleAnswer = (settlement: Answered, owner: OwnerId): boolean => {
    const { request } = settlement;
    const block = answers.add({ requests: [request], answers: [settlement.answer] });
    const state = finalState(settlement.answer.status);
    if (answer.run(state, store.now(), block, request, owner).changes) return true;
    answers.eraseUnused(block);
    return false;
  };
  /** Whether the request no longer needs its body. */
  const settle = (settlement: Settlement, owner: OwnerId): boolean => {
    if (settlement.is === 'answer') return settleAnswer(settlement, owner) && store.keep !== 'all';
    return settleOther(settlement, owner, owner) && settlement.is === 'release';
  };

  return async (owner, settlements, spent = []) => {
    const work = (slice: readonly Settlement[], isLast: boolean) => {
      owners.require(owner);
      const final = slice.filter((settlement) => settle(settlement, owner));
      bodies.of(final.map(({ request }) => request));
      if (isLast) addCosts(spent);
    };
    await inSlices(
      firstOfEach(settlements),
      (slice, isLast) => store.write(() => work(slice, isLast)),
      { sizeOf: settlementSize },
    );
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
