import type { Ledger, OwnerId } from '../../ledger.ts';
import { BATCH } from '../../sql/codes.ts';
import { type OpenBatchRow, openBatch, selectOpenBatches } from '../../sql/open-batch.ts';
import { prepareFindQueue } from '../accounts/accounts.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';

type Row = OpenBatchRow & { readonly owner: OwnerId };

export function prepareUnfinished(store: Store, owners: Owners): Ledger['unfinished'] {
  // The plus keeps SQLite from walking through all batches for their order: an index holds the open ones.
  const select = store.prepare(
    `${selectOpenBatches('batch.owner')}
     WHERE batch.state < ${BATCH.ended} AND batch.state <> ${BATCH.planning} ORDER BY +batch.id`,
  );
  const findQueue = prepareFindQueue(store);
  return () =>
    store.read(() => {
      const ownerOf = owners.living();
      const rows = select.all() as Row[];
      return rows.map((row) => openBatch(row, findQueue(row.queue), ownerOf(row.owner)));
    });
}
