import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { OwnerId, QueueId } from '../../ledger.ts';
import { inSlices } from '../../sql/slices.ts';
import type { Store } from '../connection/store.ts';
import { prepareIdRange } from './id-range.ts';

/** The table of requests is walked in steps of this many ids: it has no index by queue. */
const IDS_AT_ONCE = 10_000;

/**
 * Drops queues and accounts that nothing refers to, and that no owner that is here can have in its memory:
 * they were last opened before the oldest of these owners joined. The newest row of each table stays,
 * because SQLite would give its id to the next one.
 */
export function preparePruneUnused(
  store: Store,
): (alive: readonly OwnerId[], before: number) => Promise<void> {
  const oldest = store.prepare(
    'SELECT min(joined_at) AS joined FROM owner WHERE id IN (SELECT value FROM json_each(?))',
  );
  const candidates = store.prepare(
    `SELECT id FROM queue
     WHERE used_at < ? AND id < (SELECT max(id) FROM queue) AND id NOT IN (SELECT queue FROM batch)`,
  );
  const rangeOf = prepareIdRange(store, 'request');
  const used = store.prepare('SELECT DISTINCT queue FROM request WHERE id BETWEEN ? AND ?');
  // The moment is asked for again: another process may have opened one of them since.
  const removeQueues = store.prepare(
    'DELETE FROM queue WHERE id IN (SELECT value FROM json_each(?)) AND used_at < ?',
  );
  const removeAccounts = store.prepare(
    `DELETE FROM account
     WHERE used_at < ? AND id < (SELECT max(id) FROM account) AND id NOT IN (SELECT account FROM queue)`,
  );
  const removeLimits = store.prepare(
    'DELETE FROM learnt_limit WHERE account NOT IN (SELECT id FROM account)',
  );

  const unusedQueues = async (before: number): Promise<QueueId[]> => {
    const rows = (await store.read(() => candidates.all(before))) as { id: QueueId }[];
    const unused = new Set(rows.map(({ id }) => id));
    const { first, last } = await rangeOf();
    for (let from = first; from <= last && unused.size > 0; from += IDS_AT_ONCE) {
      const found = await store.read(() => used.all(from, from + IDS_AT_ONCE - 1));
      for (const { queue } of found as { queue: QueueId }[]) unused.delete(queue);
      await nextTurn();
    }
    return [...unused];
  };

  return async (alive, olderThan) => {
    const { joined } = (await store.read(() => oldest.get(JSON.stringify(alive)))) as {
      joined: number | null;
    };
    const before = Math.min(olderThan, store.now(), joined ?? Infinity);
    const queues = await unusedQueues(before);
    if (queues.length > 0) {
      await inSlices(queues, (slice) =>
        store.write(() => void removeQueues.run(JSON.stringify(slice), before)),
      );
    }
    await store.write(() => {
      if (Number(removeAccounts.run(before).changes) > 0) removeLimits.run();
    });
  };
}
