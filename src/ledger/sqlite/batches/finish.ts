import { checkMove } from '../../batch-moves.ts';
import type { Lease } from '../../ledger.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { prepareFreeMembers } from '../requests/free-members.ts';
import { BATCH } from '../schema/codes.ts';
import { prepareRequireLease } from './lease.ts';

type Finish = (
  lease: Lease,
  to: 'ended' | 'refused' | 'released',
  failure?: string,
) => Promise<void>;

/**
 * The batch is over. Its members are told of their answers, and those without an outcome are freed, before it gets its last state: after a crash
 * in between it is an open batch with fewer members, which recovery knows how to handle.
 */
export function prepareFinish(store: Store, newAnswers: NewAnswers): Finish {
  const requireLease = prepareRequireLease(store);
  const freeMembers = prepareFreeMembers(store);
  const update = store.prepare(
    'UPDATE batch SET state = ?, ended_at = ?, failure = ? WHERE id = ?',
  );
  return async (lease, to, failure) => {
    for (;;) {
      await newAnswers.enter(lease.batch);
      const done = await store.write(() => {
        checkMove(requireLease(lease), to);
        if (newAnswers.count(lease.batch) > 0) return false;
        if (!freeMembers(lease.batch, lease.owner)) return false;
        update.run(BATCH[to], store.now(), failure ?? null, lease.batch);
        return true;
      });
      if (done) break;
      await nextTurn();
    }
    store.touch();
  };
}
