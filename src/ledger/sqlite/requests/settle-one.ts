import type { BatchId, OwnerId, Settlement } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { REQUEST } from '../schema/codes.ts';

/**
 * Writes an outcome without an answer, inside a transaction. Who is final already, belongs to another
 * batch or another owner is left alone (false): the first outcome wins.
 */
export type SettleOne<Whose> = (
  settlement: Exclude<Settlement, { is: 'answer' }>,
  owner: OwnerId,
  whose: Whose,
) => boolean;

export function prepareSettleOne(store: Store): {
  /** Of a member of this batch. */
  readonly member: SettleOne<BatchId>;
  /** Of a request of this owner that is in no batch. */
  readonly loose: SettleOne<OwnerId>;
} {
  const again = `UPDATE request SET state = ${REQUEST.admitted}, owner = ?, at = ?,
                   attempt = attempt + 1, batch = NULL, seq = NULL WHERE`;
  const prepareFor = (condition: string): SettleOne<number> => {
    const retry = store.prepare(`${again} ${condition}`);
    const release = store.prepare(`DELETE FROM request WHERE ${condition}`);
    return ({ request, is }, owner, whose) => {
      switch (is) {
        case 'retry':
          return Boolean(retry.run(owner, store.now(), request, whose).changes);
        case 'release':
          return Boolean(release.run(request, whose).changes);
      }
    };
  };
  return {
    member: prepareFor(`id = ? AND batch = ? AND state = ${REQUEST.planned}`),
    loose: prepareFor(`id = ? AND owner = ? AND state = ${REQUEST.admitted} AND batch IS NULL`),
  };
}
