import type { BatchId, OwnerId, RequestId, Settlement } from '../ledger.ts';
import { prepareSettleOne } from './settle-one.ts';
import type { Store } from './store.ts';

/** Writes outcomes, inside a transaction. Returns how many requests were answered. */
export type SettleAll = (
  settlements: readonly Settlement[],
  owner: OwnerId,
  batch: BatchId | undefined,
) => number;

export function prepareSettleAll(store: Store): SettleAll {
  const settleOne = prepareSettleOne(store);
  // One statement for all of them: bodies are only here if they did not fit into memory.
  const eraseBodies = store.prepare(
    'DELETE FROM body WHERE request IN (SELECT value FROM json_each(?))',
  );
  return (settlements, owner, batch) => {
    const over: RequestId[] = [];
    let answered = 0;
    for (const settlement of settlements) {
      const { is, request } = settlement;
      if (!settleOne(settlement, owner, batch)) continue;
      if (is === 'answer') answered += 1;
      if (is === 'release' || (is === 'answer' && store.keep !== 'all')) over.push(request);
    }
    if (over.length > 0) eraseBodies.run(JSON.stringify(over));
    return answered;
  };
}
