import type { BatchId, OwnerId, Settlement } from '../ledger.ts';
import { REQUEST } from './codes.ts';
import type { Store } from './store.ts';

/**
 * Writes an outcome without an answer, inside a transaction. Who is final already, belongs to another
 * batch or another owner is left alone (false): the first outcome wins.
 */
export type SettleOne = (
  settlement: Exclude<Settlement, { is: 'answer' }>,
  owner: OwnerId,
  batch: BatchId | undefined,
) => boolean;

export function prepareSettleOne(store: Store): SettleOne {
  const member = `id = ? AND batch = ? AND state = ${REQUEST.planned}`;
  const loose = `id = ? AND owner = ? AND state = ${REQUEST.admitted} AND batch IS NULL`;
  const again = `UPDATE request SET state = ${REQUEST.admitted}, owner = ?, at = ?,
                   attempt = attempt + 1, batch = NULL, seq = NULL WHERE`;
  const prepareBoth = (verb: string) => ({
    member: store.prepare(`${verb} ${member}`),
    loose: store.prepare(`${verb} ${loose}`),
  });
  const statements = {
    retry: prepareBoth(again),
    release: prepareBoth('DELETE FROM request WHERE'),
  };

  return ({ request, is }, owner, batch) => {
    const statement = batch === undefined ? statements[is].loose : statements[is].member;
    const whose = batch ?? owner;
    switch (is) {
      case 'retry':
        return Boolean(statement.run(owner, store.now(), request, whose).changes);
      case 'release':
        return Boolean(statement.run(request, whose).changes);
    }
  };
}
