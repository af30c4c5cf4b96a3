import type { Ledger } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { prepareRequireLease } from './lease.ts';

/** Never the id of an owner, so it counts as one that is gone. */
const NOBODY = 0;

export function prepareGiveBack(store: Store): Ledger['giveBack'] {
  const requireLease = prepareRequireLease(store);
  const update = store.prepare(`UPDATE batch SET owner = ${NOBODY} WHERE id = ?`);
  return async (lease) => {
    await store.write(() => {
      requireLease(lease);
      update.run(lease.batch);
    });
    store.touch();
  };
}
