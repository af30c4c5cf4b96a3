import { requireBudget } from '../../cost-sum.ts';
import type { BatchId, Ledger, OwnerId, Settlement } from '../../ledger.ts';
import { BATCH } from '../../sql/codes.ts';
import { costValues } from '../../sql/costs.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { prepareAddBatchCosts } from './daily-costs.ts';

/** Adds what answers have cost to their batch and to its day, inside of their transaction: two statements for all of them. */
export function prepareAddCost(
  store: Store,
): (batch: BatchId, answers: readonly Settlement[]) => void {
  // A dollar column stays NULL until an answer has a known price.
  const add = store.prepare(
    `UPDATE batch SET counted = coalesce(counted, 0) + ?,
       input_tokens = coalesce(input_tokens, 0) + ?, output_tokens = coalesce(output_tokens, 0) + ?,
       paid = coalesce(paid + ?4, ?4, paid), saved = coalesce(saved + ?5, ?5, saved)
     WHERE id = ?6`,
  );
  const addToDay = prepareAddBatchCosts(store);
  return (batch, answers) => {
    addToDay(batch, answers);
    const [counted, ...rest] = costValues(answers);
    if (counted != null) add.run(counted, ...rest, batch);
  };
}

/**
 * Throws where the budget has no room, inside of the transaction that takes the room. A batch that was not
 * created counts only while its owner is there to create it.
 */
export function prepareRequireRoom(
  store: Store,
  owners: Owners,
): (run: string, estimate: number, budget: number) => void {
  const sum = store.prepare(
    `SELECT total(paid) + coalesce((SELECT realtime FROM run_cost WHERE run = ?1), 0) AS spent,
       total(CASE WHEN state IN (${BATCH.creating}, ${BATCH.accepted})
         THEN max(coalesce(estimate, 0) - coalesce(paid, 0), 0) END) AS under_way
     FROM batch WHERE run = ?1`,
  );
  const notCreated = store.prepare(
    `SELECT owner, total(estimate) AS estimate FROM batch
     WHERE run = ? AND state < ${BATCH.creating} GROUP BY owner`,
  );
  return (run, estimate, budget) => {
    const { spent, under_way: created } = sum.get(run) as { spent: number; under_way: number };
    const planned = notCreated.all(run) as { owner: OwnerId; estimate: number }[];
    const underWay = planned
      .filter(({ owner }) => owners.isAlive(owner))
      .reduce((all, { estimate: one }) => all + one, created);
    requireBudget({ budget, spent, underWay, estimate });
  };
}

export function prepareSpend(store: Store, owners: Owners): Ledger['spend'] {
  const requireRoom = prepareRequireRoom(store, owners);
  const add = store.prepare(
    `INSERT INTO run_cost (run, realtime) VALUES (?, ?)
     ON CONFLICT (run) DO UPDATE SET realtime = realtime + excluded.realtime`,
  );
  return (owner, dollars, budget, purse) =>
    store.write(() => {
      const run = purse ?? owners.require(owner);
      if (budget !== undefined) requireRoom(run, dollars, budget);
      add.run(run, dollars);
    });
}
