import type { Ledger } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';

export function prepareWithdraw(store: Store, owners: Owners): Ledger['withdraw'] {
  return async (owner, requests) => {
    await store.write(
      async (transaction) => {
        await owners.require(transaction, owner);
        await transaction.run(
          `WITH gone AS (
             DELETE FROM request
             WHERE id = ANY($1::bigint[]) AND owner = $2 AND state = ${REQUEST.admitted} RETURNING id
           )
           DELETE FROM body USING gone WHERE body.request = gone.id`,
          [requests, owner],
        );
      },
      { notify: true },
    );
  };
}
