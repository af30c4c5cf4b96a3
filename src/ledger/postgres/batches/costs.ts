import { requireBudget } from '../../cost-sum.ts';
import type { Ledger } from '../../ledger.ts';
import { BATCH } from '../../sql/codes.ts';
import type { Session, Store } from '../connection/store.ts';
import { ALIVE_OWNERS } from '../owners/alive.ts';
import type { Owners } from '../owners/owners.ts';

/**
 * Throws where the budget has no room, inside of the transaction that takes the room. A batch that was not
 * created counts only while its owner is there to create it.
 */
export async function requireRoom(
  session: Session,
  run: string,
  estimate: number,
  budget: number,
): Promise<void> {
  // The row is locked by this: owners of one run take room one after the other.
  await addSpending(session, run, 0);
  const [sum] = await session.rows<{ spent: number; under_way: number }>(
    `SELECT coalesce(sum(paid), 0) + (SELECT realtime FROM run_cost WHERE run = $1) AS spent,
       coalesce(sum(greatest(coalesce(estimate, 0) - coalesce(paid, 0), 0))
         FILTER (WHERE state IN (${BATCH.creating}, ${BATCH.accepted})
           OR state < ${BATCH.creating} AND owner IN ${ALIVE_OWNERS}), 0) AS under_way
     FROM batch WHERE run = $1`,
    [run],
  );
  const { spent, under_way: underWay } = sum as { spent: number; under_way: number };
  requireBudget({ budget, spent, underWay, estimate });
}

async function addSpending(session: Session, run: string, dollars: number): Promise<void> {
  await session.run(
    `INSERT INTO run_cost (run, realtime) VALUES ($1, $2)
     ON CONFLICT (run) DO UPDATE SET realtime = run_cost.realtime + excluded.realtime`,
    [run, dollars],
  );
}

export function prepareSpend(store: Store, owners: Owners): Ledger['spend'] {
  return (owner, dollars, budget, purse) =>
    store.write(async (transaction) => {
      const run = purse ?? (await owners.require(transaction, owner));
      if (budget !== undefined) await requireRoom(transaction, run, dollars, budget);
      await addSpending(transaction, run, dollars);
    });
}
