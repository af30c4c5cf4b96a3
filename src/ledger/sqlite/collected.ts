import type { Ledger } from '../ledger.ts';
import { prepareRequireLease } from './lease.ts';
import { prepareSettleAll, settlementSize } from './settle-all.ts';
import { inSlices } from './slices.ts';
import type { Store } from './store.ts';

/** The cursor goes with the last slice: after a crash what lies behind it is read again, not skipped. */
export function prepareCollected(store: Store): Ledger['collected'] {
  const requireLease = prepareRequireLease(store);
  const settleAll = prepareSettleAll(store);
  const count = store.prepare('UPDATE batch SET answered = answered + ? WHERE id = ?');
  const setCursor = store.prepare('UPDATE batch SET cursor = ? WHERE id = ?');
  return async (lease, settlements, cursor) => {
    await inSlices(
      settlements,
      (slice, isLast) =>
        store.write(() => {
          requireLease(lease);
          const answered = settleAll(slice, lease.owner, lease.batch);
          if (answered > 0) count.run(answered, lease.batch);
          if (isLast && cursor !== undefined) setCursor.run(cursor, lease.batch);
        }),
      settlementSize,
    );
    store.touch();
  };
}
