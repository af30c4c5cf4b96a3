import type { Ledger, OpenBatch, OwnerInfo } from '../../ledger.ts';
import { BATCH } from '../../sql/codes.ts';
import { type OpenBatchRow, openBatch, selectOpenBatches } from '../../sql/open-batch.ts';
import { findQueues } from '../accounts/accounts.ts';
import type { Store } from '../connection/store.ts';
import { ALIVE } from '../owners/alive.ts';

type Row = OpenBatchRow & OwnerInfo & { readonly alive: boolean | null };

export function prepareUnfinished(store: Store): Ledger['unfinished'] {
  return () =>
    store.read(async (session) => {
      const rows = await session.rows<Row>(
        `${selectOpenBatches(`${ALIVE} AS alive, owner.run, owner.host, owner.pid`)}
           LEFT JOIN owner ON owner.id = batch.owner
         WHERE batch.state < ${BATCH.ended} ORDER BY batch.id`,
      );
      const queues = await findQueues(session, [...new Set(rows.map(({ queue }) => queue))]);
      return rows.map((row) => {
        const { run, host, pid, alive } = row;
        const queue = queues.get(row.queue) as OpenBatch['queue'];
        return openBatch(row, queue, alive ? { run, host, pid } : undefined);
      });
    });
}
