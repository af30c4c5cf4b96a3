import { invariant } from '../base/errors.ts';
import type { BatchState, Lease, OutboxMessage, OwnerId } from './ledger.ts';

/**
 * Where a batch may go from each state. `creating` may be repeated, and may go back to `staged`: a
 * create that was not accepted is sent again, with a fresh upload where that is the tag to find it by.
 * `accepted` may still be refused: several providers validate the file after they accepted the batch.
 */
export const batchMoves: Readonly<Record<BatchState, readonly BatchState[]>> = {
  planned: ['staged', 'creating', 'refused', 'released'],
  staged: ['staged', 'creating', 'refused', 'released'],
  creating: ['staged', 'creating', 'accepted', 'refused', 'released'],
  accepted: ['ended', 'refused'],
  ended: [],
  refused: [],
  released: [],
};

/** Ends a batch. Members without an outcome are admitted again and belong to the owner of the lease. */
export type Finish = (
  lease: Lease,
  to: 'ended' | 'refused' | 'released',
  failure?: string,
  messages?: readonly OutboxMessage[],
) => Promise<void>;

export function isOpen(state: BatchState): boolean {
  return batchMoves[state].length > 0;
}

export function checkMove(batch: { id: number; token: string; state: BatchState }, to: BatchState) {
  invariant(
    batchMoves[batch.state].includes(to),
    `Batch ${batch.token} (${batch.id}) cannot go from "${batch.state}" to "${to}"`,
  );
}

/** The provider is asked only about a batch that it has. */
export function checkPolled({ token, state }: { token: string; state: BatchState }): void {
  invariant(state === 'accepted', `Batch ${token} was polled while it is ${state}`);
}

export function checkPlanned(isComplete: boolean, token: string, owner: OwnerId): void {
  invariant(
    isComplete,
    `Batch ${token} cannot be planned: not all of its requests are admitted and owned by ${owner}`,
  );
}
