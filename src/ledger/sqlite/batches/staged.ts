import { checkMove } from '../../batch-moves.ts';
import type { Ledger } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { BATCH } from '../schema/codes.ts';
import { prepareRequireLease } from './lease.ts';

export function prepareStaged(store: Store): Ledger['staged'] {
  const requireLease = prepareRequireLease(store);
  const update = store.prepare(`UPDATE batch SET state = ${BATCH.staged}, handle = ? WHERE id = ?`);
  return (lease, handle) =>
    store.write(() => {
      checkMove(requireLease(lease), 'staged');
      update.run(JSON.stringify(handle), lease.batch);
    });
}
