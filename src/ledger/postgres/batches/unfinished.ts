import type { Ledger, OpenBatch } from '../../ledger.ts';
import { BATCH } from '../../sql/codes.ts';
import { type OpenBatchRow, openBatch, selectOpenBatches } from '../../sql/open-batch.ts';
import { type OwnerInfoRow, ownerInfo } from '../../sql/owner-info.ts';
import { findQueues } from '../accounts/accounts.ts';
import type { Store } from '../connection/store.ts';
import { ALIVE } from '../owners/alive.ts';

type Row = OpenBatchRow & OwnerInfoRow & { readonly alive: boolean | null };

export function prepareUnfinished(store: Store): Ledger['unfinished'] {
  return () =>
    store.read(async (session) => {
      const rows = await session.rows<Row>(
        `${selectOpenBatches(`${ALIVE} AS alive, owner.run, host, pid, troubles`)}
           LEFT JOIN owner ON owner.id = batch.owner
         WHERE batch.state < ${BATCH.ended} ORDER BY batch.id`,
      );
      const queues = await findQueues(session, [...new Set(rows.map(({ queue }) => queue))]);
      return rows.map((row) => {
        const queue = queues.get(row.queue) as OpenBatch['queue'];
        return openBatch(row, queue, row.alive ? ownerInfo(row) : undefined);
      });
    });
}
