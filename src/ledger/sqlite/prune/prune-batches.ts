import type { BatchId, OwnerId } from '../../ledger.ts';
import { Pace } from '../connection/pace.ts';
import { nextTurn } from '../connection/slices.ts';
import type { Store } from '../connection/store.ts';
import { BATCH } from '../schema/codes.ts';

/** Drops finished batches that have no member left: old ones, and those that just lost their last. */
export function preparePruneBatches(
  store: Store,
): (alive: readonly OwnerId[], before: number, emptied: Iterable<BatchId>) => Promise<number> {
  const bounds = store.prepare(
    `SELECT coalesce((SELECT min(id) FROM batch), 1) AS first,
       coalesce((SELECT max(id) FROM batch), 0) AS last`,
  );
  const remove = store.prepare(
    `DELETE FROM batch
     WHERE id BETWEEN ? AND ? AND state >= ${BATCH.ended}
       AND (ended_at < ? OR id IN (SELECT value FROM json_each(?)))
       AND owner NOT IN (SELECT value FROM json_each(?))
       AND NOT EXISTS (SELECT 1 FROM request WHERE request.batch = batch.id)`,
  );
  return async (alive, before, emptied) => {
    const { first, last } = (await store.read(() => bounds.get())) as {
      first: number;
      last: number;
    };
    const owners = JSON.stringify(alive);
    const waiting = [...emptied].sort((a, b) => b - a);
    const pace = new Pace({ least: 20, most: 2_000 });
    let removed = 0;
    for (let from = first; from <= last; await nextTurn()) {
      const to = from + pace.rows - 1;
      const among: BatchId[] = [];
      while ((waiting.at(-1) ?? Infinity) <= to) among.push(waiting.pop() as BatchId);
      const work = () => remove.run(from, to, before, JSON.stringify(among), owners);
      removed += Number((await store.write(work, { pace })).changes);
      from = to + 1;
    }
    return removed;
  };
}
