import type { Ledger } from '../ledger.ts';
import { prepareRequireLease } from './lease.ts';
import { prepareSettleOne, settlementSize } from './settle-one.ts';
import { inSlices } from './slices.ts';
import type { Store } from './store.ts';

/** The cursor goes with the last slice: after a crash what lies behind it is read again, not skipped. */
export function prepareCollected(store: Store): Ledger['collected'] {
  const requireLease = prepareRequireLease(store);
  const settleOne = prepareSettleOne(store);
  const count = store.prepare('UPDATE batch SET answered = answered + ? WHERE id = ?');
  const setCursor = store.prepare('UPDATE batch SET cursor = ? WHERE id = ?');
  return async (lease, settlements, cursor) => {
    await inSlices(
      settlements,
      (slice, isLast) =>
        store.write(() => {
          requireLease(lease);
          let answered = 0;
          for (const settlement of slice) {
            const applied = settleOne(settlement, lease.owner, lease.batch);
            if (applied && settlement.is === 'answer') answered += 1;
          }
          if (answered > 0) count.run(answered, lease.batch);
          if (isLast && cursor !== undefined) setCursor.run(cursor, lease.batch);
        }),
      settlementSize,
    );
    store.touch();
  };
}
