import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { BatchId, Ledger, OwnerId } from '../../ledger.ts';
import { BATCH } from '../../sql/codes.ts';
import type { Dropped } from '../../sql/dropped.ts';
import { ROWS_PER_TRANSACTION } from '../../sql/slices.ts';
import type { AbandonPlan } from '../batches/plan.ts';
import type { Store } from '../connection/store.ts';
import type { Owners } from '../owners/owners.ts';
import { prepareCountBatches } from './count-batches.ts';
import { prepareIdRange } from './id-range.ts';
import { preparePruneRequests } from './prune-requests.ts';
import { preparePruneUnused } from './prune-unused.ts';

/** A page has 16 KB. */
const PAGES_AT_ONCE = 200;

export function preparePrune(store: Store, owners: Owners, abandon: AbandonPlan): Ledger['prune'] {
  const pruneRequests = preparePruneRequests(store);
  const pruneBatches = preparePruneBatches(store);
  const pruneRunCounts = preparePruneRunCounts(store);
  const pruneRunCosts = preparePruneRunCosts(store);
  const countBatches = prepareCountBatches(store);
  const pruneUnused = preparePruneUnused(store);
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

  /** Requests of an unfinished plan are planned, and so would never be dropped. */
  const abandonPlans = async (alive: readonly OwnerId[]) => {
    const plans = (await store.read(() => planning.all())) as { id: BatchId; owner: OwnerId }[];
    for (const { id, owner } of plans) if (!alive.includes(owner)) await abandon(id);
  };

  /** Gives free pages back to the disk, a few at a time. */
  const shrink = async (maxBytes: number) => {
    for (;;) {
      const { total, free, size } = await store.read(sizes);
      if (free === 0 || total * size <= maxBytes) break;
      await store.maintain(`PRAGMA incremental_vacuum(${PAGES_AT_ONCE})`);
      if ((await store.read(sizes)).free === free) break;
      await nextTurn();
    }
    await store.truncateLog();
  };

  return async ({ olderThan, maxBytes, shrinks = false, dryRun = false }) => {
    const before = olderThan === undefined ? undefined : store.now() - olderThan;
    const alive = await store.read(() => owners.alive());
    if (!dryRun) await abandonPlans(alive);
    const dropped: Dropped = { requests: 0, bytes: 0, batches: new Map() };
    const common = { alive, dryRun };
    if (before !== undefined) {
      const query = {
        states: 'all-but-planned',
        since: 0,
        before,
        excess: () => Infinity,
      } as const;
      await pruneRequests({ ...common, ...query }, dropped);
      if (!dryRun) {
        await pruneRunCounts(alive, before);
        await pruneRunCosts(alive, before);
      }
    }
    if (maxBytes !== undefined) {
      // In a dry run the old requests are still there: they are not counted again, and their bytes count as gone.
      const since = dryRun ? (before ?? 0) : 0;
      const excess = () => usedBytes() - maxBytes - (dryRun ? dropped.bytes : 0);
      await pruneRequests({ ...common, states: 'final', since, before: Infinity, excess }, dropped);
    }
    const batches = dryRun
      ? await countBatches(alive, before ?? 0, dropped.batches)
      : await pruneBatches(alive, before ?? 0, dropped.batches);
    if (!dryRun) {
      if (before !== undefined) await pruneUnused(alive, before);
      const most = shrinks ? 0 : maxBytes;
      if (most !== undefined) await shrink(most);
      store.touch();
    }
    return { requests: dropped.requests, batches, bytes: dropped.bytes };
  };
}

/** Drops finished batches without members: old ones, and those that just lost their last member. */
function preparePruneBatches(
  store: Store,
): (
  alive: readonly OwnerId[],
  before: number,
  emptied: ReadonlyMap<BatchId, number>,
) => Promise<number> {
  const rangeOf = prepareIdRange(store, 'batch');
  const remove = store.prepare(
    `DELETE FROM batch
     WHERE id BETWEEN ? AND ? AND state >= ${BATCH.ended}
       AND (ended_at < ? OR id IN (SELECT value FROM json_each(?)))
       AND owner NOT IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM request WHERE request.batch = batch.id)`,
  );
  return async (alive, before, emptied) => {
    const { first, last } = await rangeOf();
    const owners = JSON.stringify(alive);
    let removed = 0;
    for (let from = first; from <= last; from += ROWS_PER_TRANSACTION) {
      const to = from + ROWS_PER_TRANSACTION - 1;
      const among = JSON.stringify([...emptied.keys()].filter((id) => id >= from && id <= to));
      const work = () => remove.run(from, to, before, among, owners).changes;
      removed += Number(await store.write(work));
      await nextTurn();
    }
    return removed;
  };
}

/** Drops the counts of runs that no owner can go on with. */
function preparePruneRunCounts(
  store: Store,
): (alive: readonly OwnerId[], before: number) => Promise<void> {
  const findNext = store.prepare('SELECT min(run) AS run FROM run_count WHERE run > ?');
  const isNeeded = store.prepare(
    `SELECT 1 FROM owner
     WHERE run = ? AND (joined_at >= ? OR id IN (SELECT value FROM json_each(?))) LIMIT 1`,
  );
  const remove = store.prepare(
    `DELETE FROM run_count WHERE run = ?1 AND fp IN (
       SELECT fp FROM run_count WHERE run = ?1 LIMIT ${ROWS_PER_TRANSACTION}
     )`,
  );
  return async (alive, before) => {
    const owners = JSON.stringify(alive);
    // Asked under the lock: another process of the run may have joined.
    const removeSome = (run: string) =>
      isNeeded.get(run, before, owners) === undefined ? Number(remove.run(run).changes) : 0;
    for (let last = ''; ; ) {
      const { run } = (await store.read(() => findNext.get(last))) as { run: string | null };
      if (run === null) return;
      do await nextTurn();
      while ((await store.write(() => removeSome(run))) > 0);
      last = run;
    }
  };
}

/** Drops what such runs have spent outside of batches: one small row for each run with a budget. Days stay. */
function preparePruneRunCosts(
  store: Store,
): (alive: readonly OwnerId[], before: number) => Promise<void> {
  const remove = store.prepare(
    `DELETE FROM run_cost WHERE run NOT LIKE 'day %' AND NOT EXISTS (
       SELECT 1 FROM owner WHERE owner.run = run_cost.run
         AND (joined_at >= ? OR id IN (SELECT value FROM json_each(?)))
     )`,
  );
  return async (alive, before) => {
    await store.write(() => remove.run(before, JSON.stringify(alive)));
  };
}
