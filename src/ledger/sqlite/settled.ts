import type { Ledger } from '../ledger.ts';
import { prepareSettleAll, settlementSize } from './settle-all.ts';
import { inSlices } from './slices.ts';
import type { Store } from './store.ts';

export function prepareSettled(store: Store): Ledger['settled'] {
  const settleAll = prepareSettleAll(store);
  return async (owner, settlements) => {
    await inSlices(
      settlements,
      (slice) =>
        store.write(() => {
          settleAll(slice, owner, undefined);
        }),
      settlementSize,
    );
    store.touch();
  };
}
