import { nextTurn } from '../../../concurrency/event-loop.ts';
import { checkPlanned } from '../../batch-moves.ts';
import { bestEffort } from '../../best-effort.ts';
import type { BatchId, Ledger, NewBatch, OwnerId, RequestId } from '../../ledger.ts';
import { BATCH, REQUEST } from '../../sql/codes.ts';
import { inSlices } from '../../sql/slices.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { prepareRequireRoom } from './costs.ts';
import { prepareMembers } from './members.ts';

/** One UPDATE, one to two microseconds per row. */
const MEMBERS_PER_TRANSACTION = 2_500;

/**
 * A large plan takes several transactions. Until the last one the batch is in the hidden state
 * `planning`, in which its members still count as admitted: all of them become planned, or none.
 */
export function preparePlan(store: Store, owners: Owners, abandon: AbandonPlan): Ledger['plan'] {
  const insert = store.prepare(
    `INSERT INTO batch
       (token, queue, run, owner, epoch, state, count, name, tags, estimate, traces, created_at)
     VALUES (?, ?, ?, ?, 1, ${BATCH.planning}, ?, ?, ?, ?, ?, ?)`,
  );
  const requireRoom = prepareRequireRoom(store, owners);
  const finish = store.prepare(`UPDATE batch SET state = ${BATCH.planned} WHERE id = ?`);
  const assign = store.prepare(
    `UPDATE request SET state = ${REQUEST.planned}, batch = ?1, seq = ?2 + member.key
     FROM json_each(?3) AS member
     WHERE request.id = member.value AND owner = ?4 AND state = ${REQUEST.admitted}
       AND batch IS NULL`,
  );

  const insertBatch = (owner: OwnerId, ownRun: string, batch: NewBatch, count: number): BatchId => {
    const { token, queue, name = null, tags, estimate, budget, purse: run = ownRun } = batch;
    if (budget !== undefined) requireRoom(run, estimate ?? 0, budget);
    const traces = batch.traces ? JSON.stringify(batch.traces) : null;
    const labels = [name, JSON.stringify(tags), estimate ?? null, traces];
    const row = [token, queue, run, owner, count, ...labels, store.now()];
    return Number(insert.run(...row).lastInsertRowid);
  };

  return async (owner, newBatch, requests) => {
    let batch = undefined as BatchId | undefined;
    let assigned = 0;
    const assignSlice = (slice: readonly RequestId[], isLast: boolean): BatchId => {
      const run = owners.require(owner);
      const id = batch ?? insertBatch(owner, run, newBatch, requests.length);
      const { changes } = assign.run(id, assigned, JSON.stringify(slice), owner);
      checkPlanned(Number(changes) === slice.length, newBatch.token, owner);
      if (isLast) finish.run(id);
      return id;
    };
    try {
      const work = async (slice: readonly RequestId[], isLast: boolean) => {
        batch = await store.write(() => assignSlice(slice, isLast));
        assigned += slice.length;
      };
      await inSlices(requests, work, { rows: MEMBERS_PER_TRANSACTION });
    } catch (error) {
      if (batch !== undefined) await abandon.orLater(batch);
      throw error;
    }
    store.touch();
    return { batch: batch as BatchId, owner, epoch: 1 };
  };
}

export type AbandonPlan = ReturnType<typeof prepareAbandonPlan>;

/** Undoes plans that were not finished: their requests are admitted, and the batches are removed. */
export function prepareAbandonPlan(store: Store) {
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
  /** Does not throw: if it cannot be done now, a later `rest` does it. */
  const orLater = async (batch: BatchId) => {
    later.add(batch);
    await bestEffort(store.log, 'undo an unfinished plan', abandon(batch));
  };
  /** Undoes what could not be undone before. Does not throw: its caller meets the same error next. */
  const rest = async () => {
    for (const batch of later) await orLater(batch);
  };
  return Object.assign(abandon, { orLater, isDone: () => later.size === 0, rest });
}
