import type { Ledger, OpenBatch, QueueId } from '../../ledger.ts';
import { BATCH, batchState } from '../../sql/codes.ts';
import { findQueues } from '../accounts/accounts.ts';
import type { Store } from '../connection/store.ts';
import { ALIVE } from '../owners/alive.ts';

interface Row {
  readonly id: number;
  readonly token: string;
  readonly state: number;
  readonly count: number;
  readonly remote_id: string | null;
  readonly queue: QueueId;
  readonly provider: string;
  readonly hash: Uint8Array;
  readonly hint: string | null;
  readonly alive: boolean | null;
  readonly run: string;
  readonly host: string;
  readonly pid: number;
}

export function prepareUnfinished(store: Store): Ledger['unfinished'] {
  return () =>
    store.read(async (session) => {
      const rows = await session.rows<Row>(
        `SELECT batch.id, token, state, count, remote_id, batch.queue,
           account.provider, account.hash, account.hint,
           ${ALIVE} AS alive, owner.run, owner.host, owner.pid
         FROM batch JOIN queue ON queue.id = batch.queue JOIN account ON account.id = queue.account
           LEFT JOIN owner ON owner.id = batch.owner
         WHERE batch.state < ${BATCH.ended} ORDER BY batch.id`,
      );
      const queues = await findQueues(session, [...new Set(rows.map(({ queue }) => queue))]);
      return rows.map((row): OpenBatch => {
        const { id, token, count, provider, hash, run, host, pid } = row;
        return {
          id,
          token,
          state: batchState(row.state),
          count,
          ...(row.remote_id !== null && { remoteId: row.remote_id }),
          queue: queues.get(row.queue) as OpenBatch['queue'],
          account: { provider, hash, ...(row.hint !== null && { hint: row.hint }) },
          ...(row.alive === true && { owner: { run, host, pid } }),
        };
      });
    });
}
