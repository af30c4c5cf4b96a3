import { isOpen } from '../../batch-moves.ts';
import type { Lease, Ledger, Settlement } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { firstOfEach, isAnswer } from '../../sql/settlements.ts';
import { inSlices, settlementSize } from '../../sql/slices.ts';
import { groupsOf } from '../answers/answers.ts';
import { ENTERED_TOGETHER, type NewAnswers } from '../answers/new-answers.ts';
import type { Store } from '../connection/store.ts';
import { prepareEraseBodies } from '../requests/bodies.ts';
import { prepareSettleOne } from '../requests/settled.ts';
import { prepareAddCost } from './costs.ts';
import type { Leases } from './lease.ts';

/** The cursor goes with the last slice: after a crash results are read twice, and none is skipped. */
export function prepareCollected(
  store: Store,
  leases: Leases,
  newAnswers: NewAnswers,
): Ledger['collected'] {
  const settleMembers = prepareSettleMembers(store, newAnswers);
  const setCursor = store.prepare('UPDATE batch SET cursor = ? WHERE id = ?');
  return async (lease, settlements, cursor) => {
    const { batch } = lease;
    await inSlices(
      settlements,
      async (slice, isLast) => {
        const waiting = await store.write(() => {
          // In a batch that is over no member waits for an outcome.
          if (isOpen(leases.require(lease).state)) settleMembers(slice, lease);
          if (isLast && cursor !== undefined) setCursor.run(cursor, batch);
          return newAnswers.count(batch);
        });
        if (waiting >= ENTERED_TOGETHER) await newAnswers.enter(batch);
      },
      { sizeOf: settlementSize },
    );
    store.touch();
  };
}

/**
 * Writes outcomes of members, inside a transaction. A request that left the batch or is final stays as
 * it is: the first outcome wins.
 */
function prepareSettleMembers(
  store: Store,
  newAnswers: NewAnswers,
): (settlements: readonly Settlement[], lease: Lease) => void {
  const openMember = `id = ? AND batch = ? AND state = ${REQUEST.planned}`;
  const settleOne = prepareSettleOne(store, openMember);
  const bodies = prepareEraseBodies(store);
  const addCost = prepareAddCost(store);
  const keepsAll = store.keep === 'all';

  /** Final requests no longer need their bodies. */
  const eraseBodies = (settlements: readonly Settlement[], lease: Lease) => {
    const final = settlements.filter(
      ({ is }) => is === 'release' || (is === 'answer' && !keepsAll),
    );
    bodies.ofMembers(
      final.map(({ request }) => request),
      lease.batch,
    );
  };
  const settleOthers = (settlements: readonly Settlement[], { batch, owner }: Lease) => {
    const answerOf = newAnswers.finder();
    for (const settlement of settlements) {
      if (settlement.is === 'answer' || answerOf(batch, settlement.request) !== undefined) continue;
      settleOne(settlement, owner, batch);
    }
  };

  return (settlements, lease) => {
    const answers = settlements.filter(isAnswer);
    // The first outcome of each request is looked for only where outcomes differ, which is rare.
    const mixed = answers.length < settlements.length;
    const first = mixed ? firstOfEach(settlements) : settlements;
    eraseBodies(first, lease);
    if (mixed) settleOthers(first, lease);
    const told = mixed ? first.filter(isAnswer) : answers;
    for (const group of groupsOf(told)) newAnswers.add(group, lease);
    addCost(lease.batch, told);
  };
}
