import type { BatchId, ClaimedBatch, Ledger, OwnerId } from '../../ledger.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { BATCH, batchState } from '../schema/codes.ts';
import { prepareFindQueue } from '../schema/keys.ts';
import type { AbandonPlan } from './abandon-plan.ts';
import { prepareMembers } from './members.ts';

interface OpenBatchRow {
  readonly token: string;
  readonly queue: number;
  readonly owner: OwnerId;
  readonly epoch: number;
  readonly state: number;
  readonly answered: number;
  readonly handle: string;
  readonly remote_id: string | null;
  readonly cursor: string | null;
  readonly creating_at: number | null;
  readonly accepted_at: number | null;
}

/**
 * The lease is taken last, in a transaction that leaves nothing more to do: whatever fails before it,
 * the batch is still there for the next one who tries.
 */
export function prepareClaim(
  store: Store,
  owners: Owners,
  newAnswers: NewAnswers,
  abandon: AbandonPlan,
): Ledger['claim'] {
  const find = store.prepare(
    `SELECT token, queue, owner, epoch, state, answered, handle, remote_id, cursor, creating_at,
       accepted_at
     FROM batch WHERE id = ? AND state < ${BATCH.ended}`,
  );
  const take = store.prepare('UPDATE batch SET owner = ?, epoch = ? WHERE id = ?');
  const findQueue = prepareFindQueue(store);
  const members = prepareMembers(store);

  const findFree = (owner: OwnerId, batch: BatchId): OpenBatchRow | undefined => {
    owners.require(owner);
    const row = find.get(batch) as OpenBatchRow | undefined;
    return row && row.owner !== owner && !owners.isAlive(row.owner) ? row : undefined;
  };
  /** `undefined`: somebody moved members meanwhile, so they have to be read again. */
  const attempt = async (owner: OwnerId, batch: BatchId, seen: OpenBatchRow) => {
    const read = await members.read(batch);
    return store.write(() => {
      const row = findFree(owner, batch);
      if (!row) return { claimed: undefined };
      const same = row.answered === seen.answered && members.count(batch) === read.length;
      if (!same || newAnswers.count(batch) > 0) return undefined;
      const lease = { batch, owner, epoch: row.epoch + 1 };
      take.run(owner, lease.epoch, batch);
      const rest = { lease, queue: findQueue(row.queue), members: read };
      return { claimed: claimed(row, store.now(), rest) };
    });
  };

  return async (owner, batch) => {
    for (;;) {
      const free = await store.read(() => findFree(owner, batch));
      if (!free) return undefined;
      if (free.state === BATCH.planning) {
        await abandon(batch);
        return undefined;
      }
      await newAnswers.enter(batch);
      const seen = await store.read(() => findFree(owner, batch));
      if (!seen) return undefined;
      const outcome = await attempt(owner, batch, seen);
      if (!outcome) continue;
      store.touch();
      return outcome.claimed;
    }
  };
}

/** The owner before may have had another idea of the time: what it has done lies behind us. */
function claimed(
  row: OpenBatchRow,
  now: number,
  rest: Pick<ClaimedBatch, 'lease' | 'queue' | 'members'>,
): ClaimedBatch {
  return {
    ...rest,
    token: row.token,
    state: batchState(row.state),
    handle: JSON.parse(row.handle),
    ...(row.remote_id !== null && { remoteId: row.remote_id }),
    ...(row.cursor !== null && { cursor: row.cursor }),
    ...(row.creating_at !== null && { creatingAt: Math.min(row.creating_at, now) }),
    ...(row.accepted_at !== null && { acceptedAt: Math.min(row.accepted_at, now) }),
  };
}
