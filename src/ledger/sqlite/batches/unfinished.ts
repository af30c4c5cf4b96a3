import type { Ledger, OpenBatch, OwnerId, QueueId } from '../../ledger.ts';
import { BATCH, batchState } from '../../sql/codes.ts';
import { prepareFindQueue } from '../accounts/accounts.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';

interface Row {
  readonly id: number;
  readonly token: string;
  readonly state: number;
  readonly count: number;
  readonly remote_id: string | null;
  readonly queue: QueueId;
  readonly owner: OwnerId;
  readonly provider: string;
  readonly hash: Uint8Array;
  readonly hint: string | null;
}

export function prepareUnfinished(store: Store, owners: Owners): Ledger['unfinished'] {
  const select = store.prepare(
    `SELECT batch.id, token, state, count, remote_id, batch.queue, batch.owner,
       account.provider, account.hash, account.hint
     FROM batch JOIN queue ON queue.id = batch.queue JOIN account ON account.id = queue.account
     WHERE batch.state < ${BATCH.ended} AND batch.state <> ${BATCH.planning} ORDER BY batch.id`,
  );
  const findQueue = prepareFindQueue(store);
  return () =>
    store.read(() => {
      const ownerOf = owners.living();
      return (select.all() as Row[]).map((row): OpenBatch => {
        const { id, token, count, provider, hash } = row;
        const owner = ownerOf(row.owner);
        return {
          id,
          token,
          state: batchState(row.state),
          count,
          ...(row.remote_id !== null && { remoteId: row.remote_id }),
          queue: findQueue(row.queue),
          account: { provider, hash, ...(row.hint !== null && { hint: row.hint }) },
          ...(owner && { owner }),
        };
      });
    });
}
