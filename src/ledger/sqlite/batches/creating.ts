import { checkMove } from '../../batch-moves.ts';
import type { Ledger } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { BATCH } from '../schema/codes.ts';
import { prepareRequireLease } from './lease.ts';

export function prepareCreating(store: Store): Ledger['creating'] {
  const requireLease = prepareRequireLease(store);
  // One whose owner died counts, too: until it is claimed and resolved nobody knows if it was accepted.
  const findOther = store.prepare(
    `SELECT 1 FROM batch JOIN queue ON queue.id = batch.queue
     WHERE batch.state < ${BATCH.ended} AND batch.state = ${BATCH.creating} AND batch.id <> ?
       AND (queue.account, queue.base) = (SELECT account, base FROM queue WHERE id = ?)
     LIMIT 1`,
  );
  const update = store.prepare(
    `UPDATE batch SET state = ${BATCH.creating}, handle = ?, creating_at = ? WHERE id = ?`,
  );
  return (lease, handle, { alone }) =>
    store.write(
      () => {
        const batch = requireLease(lease);
        checkMove(batch, 'creating');
        if (alone && findOther.get(batch.id, batch.queue)) return false;
        update.run(JSON.stringify(handle), store.now(), batch.id);
        return true;
      },
      { durable: true },
    );
}
