import type { BatchId, BatchState, Lease, QueueId } from '../../ledger.ts';
import { leaseLost } from '../../lost.ts';
import { batchState } from '../../sql/codes.ts';
import type { Session } from '../connection/store.ts';
import { ALIVE } from '../owners/alive.ts';

export interface LeasedBatch {
  readonly id: BatchId;
  readonly token: string;
  readonly state: BatchState;
  readonly queue: QueueId;
  /** Milliseconds until the lease of its owner ends. */
  readonly left: number;
}

/**
 * The batches whose leases still hold, by their ids. They are locked: until the transaction ends nobody
 * can claim them, even if the lease of the owner ends meanwhile.
 */
export async function findLeased(
  session: Session,
  leases: readonly Lease[],
): Promise<Map<BatchId, LeasedBatch>> {
  const rows = await session.rows<Omit<LeasedBatch, 'state'> & { state: number }>(
    `SELECT batch.id, token, state, queue,
       extract(epoch FROM lease_until - clock_timestamp())::double precision * 1000 AS left
     FROM unnest($1::bigint[], $2::bigint[], $3::int[]) AS lease (batch, owner, epoch)
       JOIN batch ON batch.id = lease.batch AND batch.owner = lease.owner AND batch.epoch = lease.epoch
       JOIN owner ON owner.id = batch.owner
     WHERE ${ALIVE} ORDER BY batch.id FOR UPDATE OF batch`,
    [
      leases.map(({ batch }) => batch),
      leases.map(({ owner }) => owner),
      leases.map(({ epoch }) => epoch),
    ],
  );
  return new Map(rows.map((row) => [row.id, { ...row, state: batchState(row.state) }]));
}

export async function requireLease(session: Session, lease: Lease): Promise<LeasedBatch> {
  const batch = (await findLeased(session, [lease])).get(lease.batch);
  if (!batch) throw leaseLost([lease]);
  return batch;
}
