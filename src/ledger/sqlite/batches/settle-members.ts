import type { Lease, RequestId, Settlement } from '../../ledger.ts';
import { type Answered, groupsOf } from '../answers/answer-groups.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import type { Store } from '../connection/store.ts';
import { prepareEraseBodies } from '../requests/erase-bodies.ts';
import { prepareSettleOne } from '../requests/settle-one.ts';

/**
 * Writes outcomes of members, inside a transaction. Who is no member any more, or final already, is left
 * alone: the first outcome wins.
 */
export type SettleMembers = (settlements: readonly Settlement[], lease: Lease) => void;

export function prepareSettleMembers(store: Store, newAnswers: NewAnswers): SettleMembers {
  const settleOne = prepareSettleOne(store).member;
  const bodies = prepareEraseBodies(store);
  const keepAll = store.keep === 'all';

  /** Those that are over need their bodies no more. */
  const eraseBodies = (settlements: readonly Settlement[], lease: Lease) => {
    const over = settlements.filter(({ is }) => is === 'release' || (is === 'answer' && !keepAll));
    bodies.ofMembers(
      over.map(({ request }) => request),
      lease.batch,
    );
  };
  const settleOthers = (settlements: readonly Settlement[], { batch, owner }: Lease) => {
    const answered = newAnswers.finder();
    for (const settlement of settlements) {
      if (settlement.is === 'answer' || answered(batch, settlement.request) !== undefined) continue;
      settleOne(settlement, owner, batch);
    }
  };

  return (settlements, lease) => {
    const answers = settlements.filter(isAnswer);
    // The first outcome of each: looked for only where outcomes differ, which is rare.
    const mixed = answers.length < settlements.length;
    const first = mixed ? firstOfEach(settlements) : settlements;
    eraseBodies(first, lease);
    if (mixed) settleOthers(first, lease);
    for (const group of groupsOf(mixed ? first.filter(isAnswer) : answers)) {
      newAnswers.add(group, lease);
    }
  };
}

function isAnswer(settlement: Settlement): settlement is Answered {
  return settlement.is === 'answer';
}

function firstOfEach(settlements: readonly Settlement[]): Settlement[] {
  const first = new Map<RequestId, Settlement>();
  for (const settlement of settlements) {
    if (!first.has(settlement.request)) first.set(settlement.request, settlement);
  }
  return [...first.values()];
}
