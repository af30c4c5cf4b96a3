import type { ClaimedBatch, Ledger, OwnerId } from '../ledger.ts';
import { prepareAbandonPlan } from './abandon-plan.ts';
import { BATCH, batchState } from './codes.ts';
import { prepareFindQueue } from './keys.ts';
import { prepareMembers } from './members.ts';
import type { NewAnswers } from './new-answers.ts';
import type { Owners } from './owners.ts';
import type { Store } from './store.ts';

interface OpenBatchRow {
  readonly token: string;
  readonly queue: number;
  readonly owner: OwnerId;
  readonly epoch: number;
  readonly state: number;
  readonly handle: string;
  readonly remote_id: string | null;
  readonly cursor: string | null;
  readonly creating_at: number | null;
  readonly accepted_at: number | null;
}

export function prepareClaim(
  store: Store,
  owners: Owners,
  newAnswers: NewAnswers,
): Ledger['claim'] {
  const find = store.prepare(
    `SELECT token, queue, owner, epoch, state, handle, remote_id, cursor, creating_at, accepted_at
     FROM batch WHERE id = ? AND state < ${BATCH.ended}`,
  );
  const take = store.prepare('UPDATE batch SET owner = ?, epoch = ? WHERE id = ?');
  const findQueue = prepareFindQueue(store);
  const readMembers = prepareMembers(store);
  const abandon = prepareAbandonPlan(store);
  return async (owner, batch) => {
    const taken = await store.write(() => {
      owners.require(owner);
      const row = find.get(batch) as OpenBatchRow | undefined;
      if (!row || row.owner === owner || owners.isAlive(row.owner)) return undefined;
      if (row.state === BATCH.planning) return { row };
      const lease = { batch, owner, epoch: row.epoch + 1 };
      take.run(owner, lease.epoch, batch);
      return { row, lease, queue: findQueue(row.queue) };
    });
    if (!taken) return undefined;
    if (!taken.lease) {
      await abandon(batch);
      return undefined;
    }
    await newAnswers.enter(batch);
    store.touch();
    const { row, lease, queue } = taken;
    return claimed(row, { lease, queue, members: await readMembers(batch) });
  };
}

function claimed(
  row: OpenBatchRow,
  rest: Pick<ClaimedBatch, 'lease' | 'queue' | 'members'>,
): ClaimedBatch {
  return {
    ...rest,
    token: row.token,
    state: batchState(row.state),
    handle: JSON.parse(row.handle),
    ...(row.remote_id !== null && { remoteId: row.remote_id }),
    ...(row.cursor !== null && { cursor: row.cursor }),
    ...(row.creating_at !== null && { creatingAt: row.creating_at }),
    ...(row.accepted_at !== null && { acceptedAt: row.accepted_at }),
  };
}
