import type { Answer } from '../../types.ts';
import type { BatchId, OwnerId, RequestId, Settlement } from '../ledger.ts';
import { prepareSettleAnswers } from './settle-answers.ts';
import { prepareSettleOne } from './settle-one.ts';
import type { Store } from './store.ts';

/** Writes outcomes, inside a transaction. Returns how many requests were answered. */
export type SettleAll = (
  settlements: readonly Settlement[],
  owner: OwnerId,
  batch: BatchId | undefined,
) => number;

export function prepareSettleAll(store: Store): SettleAll {
  const settleAnswers = prepareSettleAnswers(store);
  const settleOne = prepareSettleOne(store);
  // Bodies are only here if they did not fit into memory.
  const anyBody = store.prepare('SELECT 1 FROM body LIMIT 1');
  const eraseBodies = store.prepare(
    'DELETE FROM body WHERE request IN (SELECT value FROM json_each(?))',
  );
  return (settlements, owner, batch) => {
    const over: RequestId[] = [];
    const answered: RequestId[] = [];
    const waiting = new Map<RequestId, Answer>();
    const writeAnswers = () => {
      for (const request of settleAnswers(waiting, owner, batch)) answered.push(request);
      waiting.clear();
    };
    for (const settlement of settlements) {
      const { is, request } = settlement;
      // Outcomes of one request are written in their order: the first one wins.
      if (waiting.has(request)) writeAnswers();
      if (is === 'answer') waiting.set(request, settlement.answer);
      else if (settleOne(settlement, owner, batch) && is === 'release') over.push(request);
    }
    writeAnswers();
    if (store.keep !== 'all') for (const request of answered) over.push(request);
    if (over.length > 0 && anyBody.get()) eraseBodies.run(JSON.stringify(over));
    return answered.length;
  };
}

/** How much text a settlement brings, for slices of even size. */
export function settlementSize(settlement: Settlement): number {
  return settlement.is === 'answer' ? settlement.answer.body.length : 0;
}
