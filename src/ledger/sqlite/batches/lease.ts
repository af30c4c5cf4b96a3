import type { BatchId, BatchState, Lease, QueueId } from '../../ledger.ts';
import { leaseLost } from '../../lost.ts';
import { batchState } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';

export interface LeasedBatch {
  readonly id: BatchId;
  readonly token: string;
  readonly state: BatchState;
  readonly queue: QueueId;
}

export type Leases = ReturnType<typeof prepareLeases>;

/** Checks a lease inside the transaction that is about to write. */
export function prepareLeases(store: Store, owners: Owners) {
  const select = store.prepare(
    'SELECT id, token, state, queue FROM batch WHERE id = ? AND owner = ? AND epoch = ?',
  );
  const find = ({ batch, owner, epoch }: Lease): LeasedBatch | undefined => {
    const row = select.get(batch, owner, epoch) as
      | (Omit<LeasedBatch, 'state'> & { state: number })
      | undefined;
    return row && owners.isAlive(owner) ? { ...row, state: batchState(row.state) } : undefined;
  };
  return {
    /** The batch, if the lease still holds. */
    find,
    require(lease: Lease): LeasedBatch {
      const batch = find(lease);
      if (!batch) throw leaseLost([lease]);
      return batch;
    },
  };
}
