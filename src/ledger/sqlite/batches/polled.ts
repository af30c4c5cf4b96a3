import { invariant } from '../../../errors.ts';
import type { Lease, Ledger } from '../../ledger.ts';
import { inSlices } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { leaseLost, prepareFindLeased } from './lease.ts';
import { prepareRemoteMark } from './remote-mark.ts';

/** One lost lease does not cost the others their update; it is reported after they are stored. */
export function preparePolled(store: Store): Ledger['polled'] {
  const findLeased = prepareFindLeased(store);
  const mark = prepareRemoteMark(store);
  return async (updates) => {
    const lost: Lease[] = [];
    await inSlices(updates, async (slice) => {
      const lostHere = await store.write(() =>
        slice.filter(({ lease, remote }) => {
          const batch = findLeased(lease);
          if (!batch) return true;
          invariant(
            batch.state === 'accepted',
            `Batch ${batch.token} was polled while it is ${batch.state}`,
          );
          mark(batch.id, remote);
          return false;
        }),
      );
      lost.push(...lostHere.map(({ lease }) => lease));
    });
    if (lost.length > 0) throw leaseLost(lost);
  };
}
