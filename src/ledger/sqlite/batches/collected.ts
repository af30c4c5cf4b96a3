import { isOpen } from '../../batch-moves.ts';
import type { Ledger } from '../../ledger.ts';
import { ENTERED_TOGETHER } from '../answers/enter-answers.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import { Pace } from '../connection/pace.ts';
import { inSlices, settlementSize } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { prepareRequireLease } from './lease.ts';
import { prepareSettleMembers } from './settle-members.ts';

/** The cursor goes with the last slice: after a crash what lies behind it is read again, not skipped. */
export function prepareCollected(store: Store, newAnswers: NewAnswers): Ledger['collected'] {
  const requireLease = prepareRequireLease(store);
  const settleMembers = prepareSettleMembers(store, newAnswers);
  const setCursor = store.prepare('UPDATE batch SET cursor = ? WHERE id = ?');
  // A few statements write all rows, so many rows cost little more than few.
  const pace = new Pace({ least: 20, most: 1_000 });
  return async (lease, settlements, cursor) => {
    const { batch } = lease;
    await inSlices(
      settlements,
      async (slice, isLast) => {
        const work = () => {
          // One that is over has no members left that wait for an outcome.
          if (isOpen(requireLease(lease).state)) settleMembers(slice, lease);
          if (isLast && cursor !== undefined) setCursor.run(cursor, batch);
          return newAnswers.count(batch);
        };
        const waiting = await store.write(work, { pace, rows: slice.length });
        if (waiting >= ENTERED_TOGETHER) await newAnswers.enter(batch);
      },
      { sizeOf: settlementSize, pace },
    );
    store.touch();
  };
}
