import { dayOf } from '../../daily-costs.ts';
import type { BatchId, OrdinaryCosts } from '../../ledger.ts';
import {
  addBatchCosts,
  addOrdinaryCosts,
  batchRows,
  ordinaryLabels,
  sumValues,
} from '../../sql/daily-costs.ts';
import type { Answered } from '../../sql/settlements.ts';
import type { Transaction } from '../connection/store.ts';
import { DAILY_COST_KEY } from '../schema/migrations/0003-daily-costs.ts';

const dialect = { at: (place: number) => `$${place}`, key: DAILY_COST_KEY };
const addBatch = addBatchCosts(dialect);
const addOrdinary = addOrdinaryCosts(dialect);

/** Adds to the totals of the day. Other processes wait for the row: it is the last statement of its transaction. */
export async function addCostsOfBatch(
  { run, now }: Transaction,
  batch: BatchId,
  answers: readonly Answered[],
): Promise<void> {
  for (const row of batchRows(dayOf(now), batch, answers)) await run(addBatch, row);
}

/** As above. All processes take the rows in the same order. */
export async function addCostsOfCalls(
  { run, now }: Transaction,
  spent: readonly OrdinaryCosts[],
): Promise<void> {
  const rows = spent.map((of) => [dayOf(now), ...ordinaryLabels(of), ...sumValues(of.costs)]);
  for (const row of rows.sort((one, other) => (`${one}` < `${other}` ? -1 : 1))) {
    await run(addOrdinary, row);
  }
}
