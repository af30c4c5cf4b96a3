import { nextTurn } from '../../../concurrency/event-loop.ts';
import type { BatchId, Member, OwnerId } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { MEMBER_COLUMNS, type MemberRow, memberOf } from '../../sql/members.ts';
import type { Store } from '../connection/store.ts';

const ROWS_AT_ONCE = 2_000;

export function prepareMembers(store: Store) {
  const select = store.prepare(
    `SELECT ${MEMBER_COLUMNS} FROM request
     WHERE batch = ? AND seq > ? ORDER BY seq LIMIT ${ROWS_AT_ONCE}`,
  );
  const count = store.prepare('SELECT count(*) AS members FROM request WHERE batch = ?');
  const free = store.prepare(
    `UPDATE request SET state = ${REQUEST.admitted}, batch = NULL, seq = NULL, owner = ?, at = ?
     WHERE id IN (
       SELECT id FROM request WHERE batch = ? AND state = ${REQUEST.planned} LIMIT ${ROWS_AT_ONCE}
     )`,
  );
  return {
    /** All members of a batch, in their order. */
    async read(batch: BatchId): Promise<Member[]> {
      const members: Member[] = [];
      let last = -1;
      for (;;) {
        const rows = (await store.read(() => select.all(batch, last))) as MemberRow[];
        for (const row of rows) members.push(memberOf(row));
        if (rows.length < ROWS_AT_ONCE) return members;
        last = (rows.at(-1) as MemberRow).seq;
        await nextTurn();
      }
    },
    /** How many there are, inside a transaction. */
    count: (batch: BatchId): number => (count.get(batch) as { members: number }).members,
    /**
     * Members without an outcome are admitted again and belong to `owner`. Inside a transaction; frees
     * only so many that it stays short. True: there are no more.
     */
    free: (batch: BatchId, owner: OwnerId): boolean =>
      free.run(owner, store.now(), batch).changes < ROWS_AT_ONCE,
  };
}
