import { invariant } from '../../base/errors.ts';
import type { RequestState } from '../admission-rules.ts';
import type { BatchState } from '../ledger.ts';

/** Numbers as stored. Never renumber: a change needs a migration. */
export const REQUEST = { admitted: 0, planned: 1, answered: 2, failed: 3 } as const;

/** `planning` is of SQLite alone and never leaves the ledger: members are still being assigned. */
export const BATCH = {
  planning: 0,
  planned: 1,
  staged: 2,
  creating: 3,
  accepted: 4,
  ended: 5,
  refused: 6,
  released: 7,
} as const;

const requestStates = Object.keys(REQUEST) as RequestState[];
const batchStates = Object.keys(BATCH) as (keyof typeof BATCH)[];

export function requestState(code: number): RequestState {
  const state = requestStates[code];
  invariant(state, `The ledger holds a request in the unknown state ${code}`);
  return state;
}

export function batchState(code: number): BatchState {
  const state = batchStates[code];
  invariant(state && state !== 'planning', `The ledger holds a batch in the unknown state ${code}`);
  return state;
}
