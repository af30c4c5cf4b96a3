import { dayOf } from '../../daily-costs.ts';
import type { BatchId, OrdinaryCosts, Settlement } from '../../ledger.ts';
import {
  addBatchCosts,
  addOrdinaryCosts,
  batchRows,
  ordinaryLabels,
  sumValues,
} from '../../sql/daily-costs.ts';
import type { Store } from '../connection/store.ts';

const dialect = {
  at: (place: number) => `?${place}`,
  key: 'day, provider, model, lane, name, tags',
};

/** Adds to the totals of the day, inside a transaction: one statement for all answers of a batch to the same scope. */
export function prepareAddBatchCosts(
  store: Store,
): (batch: BatchId, settlements: readonly Settlement[]) => void {
  const add = store.prepare(addBatchCosts(dialect));
  return (batch, settlements) => {
    for (const row of batchRows(dayOf(store.now()), batch, settlements)) add.run(...row);
  };
}

/** One statement for all calls with the same labels. */
export function prepareAddOrdinaryCosts(store: Store): (spent: readonly OrdinaryCosts[]) => void {
  const add = store.prepare(addOrdinaryCosts(dialect));
  return (spent) => {
    const day = dayOf(store.now());
    for (const of of spent) add.run(day, ...ordinaryLabels(of), ...sumValues(of.costs));
  };
}
