import type { BatchId, OwnerId } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';
import { REQUEST } from '../schema/codes.ts';

const ROWS_AT_ONCE = 2_000;

/**
 * Members without an outcome become admitted again and belong to `owner`. Inside a transaction; frees
 * so many that it stays short, and says whether that were all.
 */
export function prepareFreeMembers(store: Store): (batch: BatchId, owner: OwnerId) => boolean {
  const free = store.prepare(
    `UPDATE request SET state = ${REQUEST.admitted}, batch = NULL, seq = NULL, owner = ?, at = ?
     WHERE id IN (
       SELECT id FROM request WHERE batch = ? AND state = ${REQUEST.planned} LIMIT ${ROWS_AT_ONCE}
     )`,
  );
  return (batch, owner) => free.run(owner, store.now(), batch).changes < ROWS_AT_ONCE;
}
