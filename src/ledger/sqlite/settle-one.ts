import type { BatchId, OwnerId, Settlement } from '../ledger.ts';
import { prepareAnswers } from './answers.ts';
import { REQUEST } from './codes.ts';
import type { Store } from './store.ts';

/**
 * Writes one outcome, inside a transaction. Who is final already, belongs to another batch or another
 * owner is left alone (false): the first answer wins.
 */
export type SettleOne = (
  settlement: Settlement,
  owner: OwnerId,
  batch: BatchId | undefined,
) => boolean;

export function prepareSettleOne(store: Store): SettleOne {
  const member = `id = ? AND batch = ? AND state = ${REQUEST.planned}`;
  const loose = `id = ? AND owner = ? AND state = ${REQUEST.admitted} AND batch IS NULL`;
  const final = 'UPDATE request SET state = ?, owner = ?, at = ?, answer = ? WHERE';
  const again = `UPDATE request SET state = ${REQUEST.admitted}, owner = ?, at = ?,
                   attempt = attempt + 1, batch = NULL, seq = NULL WHERE`;
  const prepareBoth = (verb: string) => ({
    member: store.prepare(`${verb} ${member}`),
    loose: store.prepare(`${verb} ${loose}`),
  });
  const statements = {
    answer: prepareBoth(final),
    retry: prepareBoth(again),
    release: prepareBoth('DELETE FROM request WHERE'),
  };
  const answers = prepareAnswers(store);

  return (settlement, owner, batch) => {
    const { request, is } = settlement;
    const statement = batch === undefined ? statements[is].loose : statements[is].member;
    const whose = batch ?? owner;
    switch (is) {
      case 'answer': {
        const { status } = settlement.answer;
        const state = status >= 200 && status < 300 ? REQUEST.answered : REQUEST.failed;
        const answer = answers.add(request, settlement.answer);
        if (statement.run(state, owner, store.now(), answer, request, whose).changes) return true;
        answers.erase(answer);
        return false;
      }
      case 'retry':
        return Boolean(statement.run(owner, store.now(), request, whose).changes);
      case 'release':
        return Boolean(statement.run(request, whose).changes);
    }
  };
}

/** How much text a settlement brings, for slices of even size. */
export function settlementSize(settlement: Settlement): number {
  return settlement.is === 'answer' ? settlement.answer.body.length : 0;
}
