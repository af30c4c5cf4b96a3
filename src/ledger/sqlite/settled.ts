import type { Ledger } from '../ledger.ts';
import { prepareSettleOne, settlementSize } from './settle-one.ts';
import { inSlices } from './slices.ts';
import type { Store } from './store.ts';

export function prepareSettled(store: Store): Ledger['settled'] {
  const settleOne = prepareSettleOne(store);
  return async (owner, settlements) => {
    await inSlices(
      settlements,
      (slice) =>
        store.write(() => {
          for (const settlement of slice) settleOne(settlement, owner, undefined);
        }),
      settlementSize,
    );
    store.touch();
  };
}
