import type { BatchId, OwnerId } from '../ledger.ts';
import { BATCH } from './codes.ts';
import type { Store } from './store.ts';

/** Drops finished batches that have no member left: old ones, and those that just lost their last. */
export function preparePruneBatches(
  store: Store,
): (alive: readonly OwnerId[], before: number, emptied: Iterable<BatchId>) => Promise<number> {
  const remove = store.prepare(
    `DELETE FROM batch
     WHERE state >= ${BATCH.ended}
       AND (ended_at < ? OR id IN (SELECT value FROM json_each(?)))
       AND owner NOT IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM request WHERE request.batch = batch.id)`,
  );
  return (alive, before, emptied) =>
    store.write(() => {
      const { changes } = remove.run(before, JSON.stringify([...emptied]), JSON.stringify(alive));
      return Number(changes);
    });
}

/** Counts of runs that nobody can go on with. */
export function preparePruneRunCounts(
  store: Store,
): (alive: readonly OwnerId[], before: number) => Promise<void> {
  const remove = store.prepare(
    `DELETE FROM run_count WHERE run NOT IN (
       SELECT run FROM owner WHERE joined_at >= ? OR id IN (SELECT value FROM json_each(?))
     )`,
  );
  return (alive, before) =>
    store.write(() => {
      remove.run(before, JSON.stringify(alive));
    });
}
