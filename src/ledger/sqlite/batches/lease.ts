import { LeaseLostError } from '../../../errors.ts';
import type { BatchId, BatchState, Lease, QueueId } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { batchState } from '../schema/codes.ts';

export interface LeasedBatch {
  readonly id: BatchId;
  readonly token: string;
  readonly state: BatchState;
  readonly queue: QueueId;
}

/** Reads the batch if the lease still holds, inside the transaction that is about to write. */
export function prepareFindLeased(store: Store): (lease: Lease) => LeasedBatch | undefined {
  const find = store.prepare(
    'SELECT id, token, state, queue FROM batch WHERE id = ? AND owner = ? AND epoch = ?',
  );
  return ({ batch, owner, epoch }) => {
    const row = find.get(batch, owner, epoch) as
      | (Omit<LeasedBatch, 'state'> & { state: number })
      | undefined;
    return row && { ...row, state: batchState(row.state) };
  };
}

export function prepareRequireLease(store: Store): (lease: Lease) => LeasedBatch {
  const find = prepareFindLeased(store);
  return (lease) => {
    const batch = find(lease);
    if (!batch) throw leaseLost([lease]);
    return batch;
  };
}

export function leaseLost(leases: readonly Lease[]): LeaseLostError {
  const batches = leases.map((lease) => lease.batch);
  return new LeaseLostError(
    `Batch ${batches.join(', ')} is no longer ours: another owner has taken it over.`,
    { batches },
  );
}
