import type { Ledger } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { inSlices, settlementSize } from '../../sql/slices.ts';
import { AT_ONCE, type Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { settleAll } from './settle.ts';

export function prepareSettled(store: Store, owners: Owners): Ledger['settled'] {
  const condition = `request.owner = $1 AND request.state = ${REQUEST.admitted}`;
  return (owner, settlements) =>
    inSlices(
      settlements,
      (slice) =>
        store.write(
          async (transaction) => {
            await owners.require(transaction, owner);
            const allowed = { condition, value: owner };
            await settleAll(transaction, slice, allowed, owner, store.keep === 'all');
          },
          { notify: true },
        ),
      { ...AT_ONCE, sizeOf: settlementSize },
    );
}
