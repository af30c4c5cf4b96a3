import type { RequestId } from '../../ledger.ts';
import { ROWS_PER_TRANSACTION } from '../connection/slices.ts';

/** Members with consecutive ids: one UPDATE, about a microsecond per row. */
export interface IdRun {
  readonly first: RequestId;
  readonly count: number;
  /** Place of the first one in the batch. */
  readonly seq: number;
}

const ROWS_OF_RUNS_PER_TRANSACTION = 2_500;

/** Groups the members of a batch into runs, and the runs into transactions. Never empty. */
export function planRuns(requests: readonly RequestId[]): IdRun[][] {
  const groups: IdRun[][] = [[]];
  let rows = 0;
  for (const run of idRuns(requests)) {
    const group = groups.at(-1) as IdRun[];
    rows += run.count;
    const isFull = group.length >= ROWS_PER_TRANSACTION || rows > ROWS_OF_RUNS_PER_TRANSACTION;
    if (isFull && group.length > 0) {
      groups.push([run]);
      rows = run.count;
    } else {
      group.push(run);
    }
  }
  return groups;
}

function* idRuns(requests: readonly RequestId[]): Generator<IdRun> {
  let start = 0;
  for (let index = 1; index <= requests.length; index += 1) {
    const first = requests[start] as RequestId;
    const count = index - start;
    const goesOn = requests[index] === first + count && count < ROWS_OF_RUNS_PER_TRANSACTION;
    if (goesOn) continue;
    yield { first, count, seq: start };
    start = index;
  }
}
