import type { AccountId, BatchId, Ledger, OwnerId } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { BATCH } from '../schema/codes.ts';
import type { AbandonPlan } from './abandon-plan.ts';

interface OpenBatchRow {
  readonly id: BatchId;
  readonly owner: OwnerId;
  readonly state: number;
  readonly account: AccountId;
}

/** Half-made plans of owners that are gone are undone on the way. */
export function prepareClaimable(
  store: Store,
  owners: Owners,
  abandon: AbandonPlan,
): Ledger['claimable'] {
  const select = store.prepare(
    `SELECT batch.id, batch.owner, batch.state, queue.account
     FROM batch JOIN queue ON queue.id = batch.queue
     WHERE batch.state < ${BATCH.ended} ORDER BY batch.id`,
  );
  return async (account) => {
    const free = await store.read(() => {
      const isAlive = new Map<OwnerId, boolean>();
      return (select.all() as OpenBatchRow[]).filter(({ owner }) => {
        if (!isAlive.has(owner)) isAlive.set(owner, owners.isAlive(owner));
        return !isAlive.get(owner);
      });
    });
    for (const { id, state } of free) if (state === BATCH.planning) await abandon(id);
    return free
      .filter((row) => row.state !== BATCH.planning)
      .filter((row) => account === undefined || row.account === account)
      .map((row) => row.id);
  };
}
