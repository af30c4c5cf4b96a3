import { BatchlingError } from '../base/errors.ts';
import type { BatchState } from './ledger.ts';

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

export function isOpen(state: BatchState): boolean {
  return batchMoves[state].length > 0;
}

export function checkMove(batch: { id: number; token: string; state: BatchState }, to: BatchState) {
  if (batchMoves[batch.state].includes(to)) return;
  throw new BatchlingError(
    'INVARIANT',
    `Batch ${batch.token} (${batch.id}) cannot go from "${batch.state}" to "${to}". ` +
      'This is a bug in batchling; please report it.',
    { facts: { batch: batch.id, token: batch.token, from: batch.state, to } },
  );
}
