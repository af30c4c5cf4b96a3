import { BatchlingError } from '../../../errors.ts';
import type { BatchId, Ledger, NewBatch, OwnerId, RequestId } from '../../ledger.ts';
import { nextTurn, ROWS_PER_TRANSACTION } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { BATCH, REQUEST } from '../schema/codes.ts';
import { prepareMembers } from './members.ts';

/**
 * A large plan takes several transactions. Until the last one the batch is in the hidden state
 * `planning`, in which its members still count as admitted: all of them become planned, or none.
 */
export function preparePlan(store: Store, owners: Owners, abandon: AbandonPlan): Ledger['plan'] {
  const insert = store.prepare(
    `INSERT INTO batch (token, queue, run, owner, epoch, state, count, name, tags, created_at)
     VALUES (?, ?, ?, ?, 1, ${BATCH.planning}, ?, ?, ?, ?)`,
  );
  const finish = store.prepare(`UPDATE batch SET state = ${BATCH.planned} WHERE id = ?`);
  const assign = store.prepare(
    `UPDATE request SET state = ${REQUEST.planned}, batch = ?, seq = id - ? + ?
     WHERE id BETWEEN ? AND ? AND owner = ? AND state = ${REQUEST.admitted} AND batch IS NULL`,
  );

  const insertBatch = (owner: OwnerId, run: string, batch: NewBatch, count: number): BatchId => {
    const { token, queue, name = null, tags } = batch;
    const row = [token, queue, run, owner, count, name, JSON.stringify(tags), store.now()];
    return Number(insert.run(...row).lastInsertRowid);
  };
  const assignRun = (owner: OwnerId, token: string, batch: BatchId, run: IdRun) => {
    const { first, count, seq } = run;
    const last = first + count - 1;
    const { changes } = assign.run(batch, first, seq, first, last, owner);
    if (Number(changes) !== count) throw notOurs(token, owner, first, last);
  };

  return async (owner, newBatch, requests) => {
    const groups = planRuns(requests);
    let batch: BatchId | undefined;
    try {
      for (const [index, group] of groups.entries()) {
        if (index > 0) await nextTurn();
        batch = await store.write(() => {
          const run = owners.require(owner);
          const id = batch ?? insertBatch(owner, run, newBatch, requests.length);
          for (const idRun of group) assignRun(owner, newBatch.token, id, idRun);
          if (index === groups.length - 1) finish.run(id);
          return id;
        });
      }
    } catch (error) {
      if (batch !== undefined) await abandon.orLater(batch);
      throw error;
    }
    store.touch();
    return { batch: batch as BatchId, owner, epoch: 1 };
  };
}

function notOurs(token: string, owner: OwnerId, first: number, last: number): BatchlingError {
  return new BatchlingError(
    'INVARIANT',
    `Requests ${first} to ${last} cannot be planned into batch ${token}: ` +
      `not all of them are admitted and owned by ${owner}. ` +
      'This is a bug in batchling; please report it.',
    { facts: { token, owner, first, last } },
  );
}

/** Members with consecutive ids: one UPDATE, about a microsecond per row. */
interface IdRun {
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

/** Undoes plans that were not finished: their requests are admitted, and the batches are removed. */
export interface AbandonPlan {
  (batch: BatchId): Promise<void>;
  /** Does not throw: if it cannot be done now, a later `rest` does it. */
  orLater(batch: BatchId): Promise<void>;
  isDone(): boolean;
  /** Undoes what could not be undone before. Does not throw: its caller meets the same error next. */
  rest(): Promise<void>;
}

export function prepareAbandonPlan(store: Store): AbandonPlan {
  const find = store.prepare(`SELECT owner FROM batch WHERE id = ? AND state = ${BATCH.planning}`);
  const remove = store.prepare(`DELETE FROM batch WHERE id = ? AND state = ${BATCH.planning}`);
  const members = prepareMembers(store);
  const later = new Set<BatchId>();

  const abandon = async (batch: BatchId) => {
    for (;;) {
      const done = await store.write(() => {
        const row = find.get(batch) as { owner: OwnerId } | undefined;
        if (row && !members.free(batch, row.owner)) return false;
        remove.run(batch);
        return true;
      });
      if (done) break;
      await nextTurn();
    }
    later.delete(batch);
    store.touch();
  };
  const orLater = async (batch: BatchId) => {
    later.add(batch);
    await abandon(batch).catch(() => {});
  };
  const rest = async () => {
    for (const batch of later) await orLater(batch);
  };
  return Object.assign(abandon, { orLater, isDone: () => later.size === 0, rest });
}
