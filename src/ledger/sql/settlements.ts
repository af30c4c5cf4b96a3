import type { RequestId, Settlement } from '../ledger.ts';

export type Answered = Extract<Settlement, { is: 'answer' }>;

export function isAnswer(settlement: Settlement): settlement is Answered {
  return settlement.is === 'answer';
}

/** The first outcome of a request wins. */
export function firstOfEach(settlements: readonly Settlement[]): Settlement[] {
  const first = new Map<RequestId, Settlement>();
  for (const settlement of settlements) {
    if (!first.has(settlement.request)) first.set(settlement.request, settlement);
  }
  return [...first.values()];
}
