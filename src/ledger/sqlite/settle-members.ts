import type { Answer } from '../../types.ts';
import type { Lease, RequestId, Settlement } from '../ledger.ts';
import { groupsOf } from './answer-groups.ts';
import { prepareEraseBodies } from './erase-bodies.ts';
import type { NewAnswers } from './new-answers.ts';
import { prepareSettleOne } from './settle-one.ts';
import type { Store } from './store.ts';

/**
 * Writes outcomes of members, inside a transaction. Who is no member any more, or final already, is left
 * alone: the first outcome wins.
 */
export type SettleMembers = (settlements: readonly Settlement[], lease: Lease) => void;

export function prepareSettleMembers(store: Store, newAnswers: NewAnswers): SettleMembers {
  const settleOne = prepareSettleOne(store).member;
  const bodies = prepareEraseBodies(store);
  return (settlements, lease) => {
    const { batch, owner } = lease;
    const first = new Map<RequestId, Settlement>();
    for (const settlement of settlements) {
      if (!first.has(settlement.request)) first.set(settlement.request, settlement);
    }
    const over: RequestId[] = [];
    const answers = new Map<RequestId, Answer>();
    const others: Exclude<Settlement, { is: 'answer' }>[] = [];
    for (const [request, settlement] of first) {
      if (settlement.is === 'answer') answers.set(request, settlement.answer);
      else others.push(settlement);
      const isOver =
        settlement.is === 'answer' ? store.keep !== 'all' : settlement.is === 'release';
      if (isOver) over.push(request);
    }
    bodies.ofMembers(over, batch);
    if (others.length > 0) {
      const answered = newAnswers.finder();
      for (const other of others) {
        if (answered(batch, other.request) === undefined) settleOne(other, owner, batch);
      }
    }
    for (const group of groupsOf(answers)) newAnswers.add(group, lease);
  };
}
