import { invariant } from '../../../errors.ts';
import type { RequestState } from '../../admission-rules.ts';
import type { BatchState } from '../../ledger.ts';

/** Numbers as stored. Never renumber: a change needs a migration. */
export const REQUEST = { admitted: 0, planned: 1, answered: 2, failed: 3 } as const;

/** The same numbers as in a SQLite ledger, which has a 0 of its own. */
export const BATCH = {
  planned: 1,
  staged: 2,
  creating: 3,
  accepted: 4,
  ended: 5,
  refused: 6,
  released: 7,
} as const;

const requestStates = Object.keys(REQUEST) as RequestState[];
const batchStates = Object.keys(BATCH) as BatchState[];

export function requestState(code: number): RequestState {
  const state = requestStates[code];
  invariant(state, `The ledger holds a request in the unknown state ${code}`);
  return state;
}

export function batchState(code: number): BatchState {
  const state = batchStates[code - BATCH.planned];
  invariant(state, `The ledger holds a batch in the unknown state ${code}`);
  return state;
}
