import { LeaseLostError, OwnerLostError } from '../base/errors.ts';
import type { Lease, OwnerId } from './ledger.ts';

export function ownerLost(
  owner: OwnerId,
  why: 'never joined' | 'has left' | 'is counted as gone by',
): OwnerLostError {
  return new OwnerLostError(
    `Owner ${owner} ${why} this ledger. Its requests and batches are free for other owners.`,
    { owner },
  );
}

export function leaseLost(leases: readonly Lease[]): LeaseLostError {
  const batches = leases.map((lease) => lease.batch);
  const what = batches.length === 1 ? 'The lease of batch' : 'The leases of batches';
  return new LeaseLostError(
    `${what} ${batches.join(', ')} no longer holds: another owner has the batch, or this one is gone.`,
    { batches },
  );
}
