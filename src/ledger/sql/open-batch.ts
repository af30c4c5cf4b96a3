import type { OpenBatch, OwnerInfo, QueueId } from '../ledger.ts';
import { batchState } from './codes.ts';

/** A batch that is not over, as `selectOpenBatches` selects it. */
export interface OpenBatchRow {
  readonly id: number;
  readonly token: string;
  readonly state: number;
  readonly count: number;
  readonly remote_id: string | null;
  readonly queue: QueueId;
  readonly provider: string;
  readonly hash: Uint8Array;
  readonly hint: string | null;
}

/** SQL: batches, their queues and accounts. `more`: columns besides those of a row. */
export const selectOpenBatches = (more: string) => `
  SELECT batch.id, token, state, count, remote_id, batch.queue,
    account.provider, account.hash, account.hint, ${more}
  FROM batch JOIN queue ON queue.id = batch.queue JOIN account ON account.id = queue.account`;

export function openBatch(
  row: OpenBatchRow,
  queue: OpenBatch['queue'],
  owner: OwnerInfo | undefined,
): OpenBatch {
  const { id, token, count, provider, hash } = row;
  return {
    id,
    token,
    count,
    queue,
    state: batchState(row.state),
    ...(row.remote_id !== null && { remoteId: row.remote_id }),
    account: { provider, hash, ...(row.hint !== null && { hint: row.hint }) },
    ...(owner && { owner }),
  };
}
