import type { ClaimedBatch, OwnerId, QueueId } from '../ledger.ts';
import { batchState } from './codes.ts';

/** A batch that may be claimed, as a ledger in SQL selects it. */
export interface ClaimedBatchRow {
  readonly token: string;
  readonly queue: QueueId;
  readonly owner: OwnerId;
  readonly epoch: number;
  readonly state: number;
  readonly handle: string;
  readonly remote_id: string | null;
  readonly cursor: string | null;
  readonly creating_at: number | null;
  readonly accepted_at: number | null;
  readonly traces: string | null;
}

export function claimedBatch(
  row: ClaimedBatchRow,
  now: number,
  rest: Pick<ClaimedBatch, 'lease' | 'queue' | 'members'>,
): ClaimedBatch {
  // An age is not negative, although the clock may have been set back since.
  const ageOf = (at: number) => Math.max(0, now - at);
  return {
    ...rest,
    token: row.token,
    state: batchState(row.state),
    handle: JSON.parse(row.handle),
    ...(row.remote_id !== null && { remoteId: row.remote_id }),
    ...(row.cursor !== null && { cursor: row.cursor }),
    ...(row.creating_at !== null && { creatingAge: ageOf(row.creating_at) }),
    ...(row.traces !== null && { traces: JSON.parse(row.traces) }),
    ...(row.accepted_at !== null && { acceptedAge: ageOf(row.accepted_at) }),
  };
}
