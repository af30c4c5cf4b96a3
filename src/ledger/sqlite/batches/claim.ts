import type { AccountId, BatchId, Ledger, OwnerId } from '../../ledger.ts';
import { type ClaimedBatchRow, claimedBatch } from '../../sql/claimed-batch.ts';
import { BATCH } from '../../sql/codes.ts';
import { prepareFindQueue } from '../accounts/accounts.ts';
import type { NewAnswers } from '../answers/new-answers.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { prepareMembers } from './members.ts';
import type { AbandonPlan } from './plan.ts';

interface FreeBatchRow extends ClaimedBatchRow {
  readonly answered: number;
}

/**
 * The lease is taken last, in a transaction that leaves nothing more to do: whatever fails before it,
 * the batch can still be claimed.
 */
export function prepareClaim(
  store: Store,
  owners: Owners,
  newAnswers: NewAnswers,
  abandon: AbandonPlan,
): Ledger['claim'] {
  const find = store.prepare(
    `SELECT token, queue, owner, epoch, state, answered, handle, remote_id, cursor, creating_at,
       accepted_at, traces
     FROM batch WHERE id = ? AND state < ${BATCH.ended}`,
  );
  const take = store.prepare('UPDATE batch SET owner = ?, epoch = ? WHERE id = ?');
  const findQueue = prepareFindQueue(store);
  const members = prepareMembers(store);

  const findFree = (owner: OwnerId, batch: BatchId): FreeBatchRow | undefined => {
    owners.require(owner);
    const row = find.get(batch) as FreeBatchRow | undefined;
    return row && row.owner !== owner && !owners.isAlive(row.owner) ? row : undefined;
  };
  /** `undefined`: members changed while they were read, so they have to be read again. */
  const attempt = async (owner: OwnerId, batch: BatchId, seen: FreeBatchRow) => {
    const read = await members.read(batch);
    return store.write(() => {
      const row = findFree(owner, batch);
      if (!row) return { claimed: undefined };
      const same = row.answered === seen.answered && members.count(batch) === read.length;
      if (!same || newAnswers.count(batch) > 0) return undefined;
      const lease = { batch, owner, epoch: row.epoch + 1 };
      take.run(owner, lease.epoch, batch);
      const rest = { lease, queue: findQueue(row.queue), members: read };
      return { claimed: claimedBatch(row, store.now(), rest) };
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

/** Undoes unfinished plans of owners that are gone on the way. */
export function prepareClaimable(
  store: Store,
  owners: Owners,
  abandon: AbandonPlan,
): Ledger['claimable'] {
  const select = store.prepare(
    `SELECT batch.id, batch.owner, batch.state, queue.account
     FROM batch JOIN queue ON queue.id = batch.queue
     WHERE batch.state < ${BATCH.ended} ORDER BY batch.id`,
  );
  type Row = { id: BatchId; owner: OwnerId; state: number; account: AccountId };
  return async (account) => {
    const free = await store.read(() => {
      const ownerOf = owners.living();
      return (select.all() as Row[]).filter(({ owner }) => ownerOf(owner) === undefined);
    });
    for (const { id, state } of free) if (state === BATCH.planning) await abandon(id);
    return free
      .filter((row) => row.state !== BATCH.planning)
      .filter((row) => account === undefined || row.account === account)
      .map((row) => row.id);
  };
}
