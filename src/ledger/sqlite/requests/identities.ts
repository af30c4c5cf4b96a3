import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { Store } from '../connection/store.ts';

/** So few that they fit into some dozens of pages, so many that moving them writes few pages each. */
const NEW_AT_MOST = 8_192;
const MOVED_PER_TRANSACTION = 1_000;

/**
 * SQL: ids of requests that may have a fingerprint (32 bytes) in an occurrence. Only 6 bytes of the
 * fingerprint are compared here; the caller compares all of it in the row of the request.
 */
export function candidates(prefix: string, occurrence: string): string {
  const select = (table: string) =>
    `SELECT request FROM ${table} WHERE prefix = ${prefix} AND occ = ${occurrence}`;
  return `${select('identity_new')} UNION ALL ${select('identity')}`;
}

/**
 * Moves entries from `identity_new` to `identity` once they are many. It does not wait for a lock of
 * another process: an admission waits for this, and the next admission tries again.
 */
export function prepareSortIn(store: Store): () => Promise<void> {
  const count = store.prepare('SELECT count(*) AS entries FROM identity_new');
  const findLast = store.prepare(
    `SELECT prefix, occ, request FROM identity_new ORDER BY prefix, occ, request
     LIMIT 1 OFFSET ${MOVED_PER_TRANSACTION - 1}`,
  );
  const copy = store.prepare(
    `INSERT INTO identity (prefix, occ, request)
     SELECT prefix, occ, request FROM identity_new WHERE (prefix, occ, request) <= (?, ?, ?)
     ORDER BY prefix, occ, request`,
  );
  const remove = store.prepare(
    'DELETE FROM identity_new WHERE (prefix, occ, request) <= (?, ?, ?)',
  );

  const move = (): boolean => {
    const last = findLast.get() as { prefix: Uint8Array; occ: number; request: number } | undefined;
    if (!last) return false;
    copy.run(last.prefix, last.occ, last.request);
    remove.run(last.prefix, last.occ, last.request);
    return true;
  };

  return async () => {
    const { entries } = (await store.read(() => count.get())) as { entries: number };
    if (entries <= NEW_AT_MOST) return;
    do await nextTurn();
    while (await store.write(move, { patience: 0 }));
  };
}
