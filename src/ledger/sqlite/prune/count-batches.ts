import type { BatchId, OwnerId } from '../../ledger.ts';
import { BATCH } from '../../sql/codes.ts';
import type { Store } from '../connection/store.ts';

/** How many finished batches would have no member left if each lost so many requests. */
export function prepareCountBatches(
  store: Store,
): (
  alive: readonly OwnerId[],
  before: number,
  losses: ReadonlyMap<BatchId, number>,
) => Promise<number> {
  const select = store.prepare(
    `SELECT id, ended_at < ? AS isOld,
       (SELECT count(*) FROM request WHERE request.batch = batch.id) AS members
     FROM batch
     WHERE state >= ${BATCH.ended} AND owner NOT IN (SELECT value FROM json_each(?))`,
  );
  type Row = { id: BatchId; isOld: number; members: number };
  return async (alive, before, losses) => {
    const rows = await store.read(() => select.all(before, JSON.stringify(alive)) as Row[]);
    return rows.filter(({ id, isOld, members }) => {
      const lost = losses.get(id) ?? 0;
      return members === lost && (isOld === 1 || lost > 0);
    }).length;
  };
}
