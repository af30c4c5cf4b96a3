import { checkMove } from '../../batch-moves.ts';
import type { BatchId, Lease, Ledger, OwnerId, QueueId } from '../../ledger.ts';
import { leaseLost } from '../../lost.ts';
import { BATCH } from '../../sql/codes.ts';
import type { Session, Store } from '../connection/store.ts';
import { requireLease } from './lease.ts';

/** The share of a lease that has to be left, so that the create reaches the provider before it ends. */
const LEFT_OF_LEASE = 0.5;
/** The share of a lease that may pass until the mark is known to be written. */
const PASSED_OF_LEASE = 0.25;

/**
 * The mark before the bytes go out. An owner whose heartbeat has failed for half of its lease does not send
 * any more: its lease is ended on the spot, so that it joins again, and any owner can claim the batch. A mark
 * whose answer took long is written again, because others may have claimed the batch meanwhile.
 */
export function prepareCreating(store: Store, lease: number): Ledger['creating'] {
  const mark = (held: Lease, handle: string, alone: boolean) =>
    store.write(
      async (transaction) => {
        const batch = await requireLease(transaction, held);
        checkMove(batch, 'creating');
        if (batch.left < lease * LEFT_OF_LEASE) {
          await endLease(transaction, held.owner);
          return 'lost';
        }
        if (alone && (await isAnotherCreated(transaction, batch))) return 'not-alone';
        await transaction.run(
          `UPDATE batch SET state = ${BATCH.creating}, handle = $2, creating_at = $3 WHERE id = $1`,
          [batch.id, handle, transaction.now],
        );
        return 'marked';
      },
      { durable: true },
    );
  return async (held, handle, { alone }) => {
    for (;;) {
      const startedAt = performance.now();
      const outcome = await mark(held, JSON.stringify(handle), alone);
      if (outcome === 'lost') throw leaseLost([held]);
      if (performance.now() - startedAt < lease * PASSED_OF_LEASE) return outcome === 'marked';
    }
  };
}

async function endLease({ run }: Session, owner: OwnerId): Promise<void> {
  await run("UPDATE owner SET lease_until = '-infinity' WHERE id = $1", [owner]);
}

/** A batch whose owner is gone counts, too: until it is claimed and resolved it may have been accepted. */
async function isAnotherCreated(
  session: Session,
  { id, queue }: { id: BatchId; queue: QueueId },
): Promise<boolean> {
  // Two owners that ask at the same time do so one after the other.
  await session.run(
    `SELECT 1 FROM account WHERE id = (SELECT account FROM queue WHERE queue.id = $1) FOR UPDATE`,
    [queue],
  );
  const others = await session.rows(
    `SELECT 1 FROM batch JOIN queue ON queue.id = batch.queue
     WHERE batch.state < ${BATCH.ended} AND batch.state = ${BATCH.creating} AND batch.id <> $1
       AND (queue.account, queue.base) = (SELECT account, base FROM queue WHERE id = $2)
     LIMIT 1`,
    [id, queue],
  );
  return others.length > 0;
}
