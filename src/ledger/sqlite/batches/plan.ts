import { BatchlingError } from '../../../errors.ts';
import type { BatchId, Ledger, NewBatch, OwnerId } from '../../ledger.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { type IdRun, planRuns } from '../requests/plan-runs.ts';
import { BATCH, REQUEST } from '../schema/codes.ts';
import type { AbandonPlan } from './abandon-plan.ts';

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
