import { checkMove } from '../../batch-moves.ts';
import type { Ledger } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { BATCH } from '../schema/codes.ts';
import { prepareRequireLease } from './lease.ts';
import { prepareRemoteMark } from './remote-mark.ts';

export function prepareAccepted(store: Store): Ledger['accepted'] {
  const requireLease = prepareRequireLease(store);
  const mark = prepareRemoteMark(store);
  const update = store.prepare(
    `UPDATE batch SET state = ${BATCH.accepted}, accepted_at = ? WHERE id = ?`,
  );
  return (lease, remote) =>
    store.write(
      () => {
        checkMove(requireLease(lease), 'accepted');
        update.run(store.now(), lease.batch);
        mark(lease.batch, remote);
      },
      { durable: true },
    );
}
