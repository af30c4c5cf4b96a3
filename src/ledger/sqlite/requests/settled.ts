import type { Ledger, OwnerId, RequestId, Settlement } from '../../ledger.ts';
import type { Answered } from '../answers/answer-groups.ts';
import { prepareSettleAnswers } from '../answers/settle-answers.ts';
import { inSlices, settlementSize } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { prepareEraseBodies } from './erase-bodies.ts';
import { prepareSettleOne } from './settle-one.ts';

export function prepareSettled(store: Store): Ledger['settled'] {
  const settleAnswers = prepareSettleAnswers(store);
  const settleOne = prepareSettleOne(store).loose;
  const bodies = prepareEraseBodies(store);

  const settleAll = (settlements: readonly Settlement[], owner: OwnerId) => {
    const over: RequestId[] = [];
    const waiting = new Map<RequestId, Answered>();
    const writeAnswers = () => {
      const answered = settleAnswers([...waiting.values()], owner);
      if (store.keep !== 'all') for (const request of answered) over.push(request);
      waiting.clear();
    };
    for (const settlement of settlements) {
      const { is, request } = settlement;
      // Outcomes of one request are written in their order: the first final one wins.
      if (waiting.has(request)) writeAnswers();
      if (settlement.is === 'answer') waiting.set(request, settlement);
      else if (settleOne(settlement, owner, owner) && is === 'release') over.push(request);
    }
    writeAnswers();
    bodies.of(over);
  };

  return async (owner, settlements) => {
    await inSlices(settlements, (slice) => store.write(() => settleAll(slice, owner)), {
      sizeOf: settlementSize,
    });
    store.touch();
  };
}
