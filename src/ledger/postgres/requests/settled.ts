import type { Ledger } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { settleAll, settlementSize } from './settle.ts';
import { inSlices } from './slices.ts';

export function prepareSettled(store: Store, owners: Owners): Ledger['settled'] {
  const condition = `request.owner = $1 AND request.state = ${REQUEST.admitted}`;
  return (owner, settlements) =>
    inSlices(settlements, settlementSize, async (slice) => {
      await store.write(
        async (transaction) => {
          await owners.require(transaction, owner);
          const allowed = { condition, value: owner };
          await settleAll(transaction, slice, allowed, owner, store.keep === 'all');
        },
        { notify: true },
      );
    });
}
