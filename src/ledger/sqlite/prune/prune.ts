import type { BatchId, Ledger, OwnerId } from '../../ledger.ts';
import type { AbandonPlan } from '../batches/abandon-plan.ts';
import { Pace } from '../connection/pace.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { BATCH } from '../schema/codes.ts';
import { preparePruneBatches } from './prune-batches.ts';
import { type Dropped, preparePruneRequests } from './prune-requests.ts';
import { preparePruneRunCounts } from './prune-run-counts.ts';

export function preparePrune(store: Store, owners: Owners, abandon: AbandonPlan): Ledger['prune'] {
  const pruneRequests = preparePruneRequests(store);
  const pruneBatches = preparePruneBatches(store);
  const pruneRunCounts = preparePruneRunCounts(store);
  const planning = store.prepare(
    // The first condition is that of the index of open batches.
    `SELECT id, owner FROM batch WHERE state < ${BATCH.ended} AND state = ${BATCH.planning}`,
  );
  const pages = store.prepare(
    `SELECT page_count AS total, freelist_count AS free, page_size AS size
     FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
  );
  const sizes = () => pages.get() as { total: number; free: number; size: number };
  const usedBytes = () => {
    const { total, free, size } = sizes();
    return (total - free) * size;
  };

  /** Requests of half a plan are planned, and so would never be dropped. */
  const abandonPlans = async (alive: readonly OwnerId[]) => {
    const plans = (await store.read(() => planning.all())) as { id: BatchId; owner: OwnerId }[];
    for (const { id, owner } of plans) if (!alive.includes(owner)) await abandon(id);
  };

  /** Gives free pages back to the disk, a few at a time. */
  const shrink = async (maxBytes: number) => {
    const pace = new Pace({ least: 10, most: 1_000 });
    for (;;) {
      const { total, free, size } = await store.read(sizes);
      if (free === 0 || total * size <= maxBytes) break;
      await store.maintain(`PRAGMA incremental_vacuum(${pace.rows})`, { pace });
      if ((await store.read(sizes)).free === free) break;
      await nextTurn();
    }
    await store.truncateLog();
  };

  return async ({ before, maxBytes }) => {
    const alive = await store.read(() => owners.alive());
    await abandonPlans(alive);
    const dropped: Dropped = { requests: 0, bytes: 0, batches: new Set() };
    if (before !== undefined) {
      const excess = () => Infinity;
      await pruneRequests({ alive, states: 'all-but-planned', before, excess }, dropped);
      await pruneRunCounts(alive, before);
    }
    if (maxBytes !== undefined) {
      const excess = () => usedBytes() - maxBytes;
      await pruneRequests({ alive, states: 'final', before: Infinity, excess }, dropped);
      await shrink(maxBytes);
    }
    const batches = await pruneBatches(alive, before ?? 0, dropped.batches);
    store.touch();
    return { requests: dropped.requests, batches, bytes: dropped.bytes };
  };
}
