import type { QueueId } from '../../ledger.ts';
import type { Session } from '../connection/store.ts';
import { ALIVE } from '../owners/alive.ts';

/**
 * Drops queues and accounts that nothing refers to, and that no owner that is here can have in its memory:
 * they were last opened before the oldest of these owners joined. A statement that waits for a process which
 * opens one of them looks at the moment again.
 */
export async function dropUnused({ rows, run }: Session, before: number): Promise<void> {
  const oldest = `least($1::bigint, (SELECT min(joined_at) FROM owner WHERE ${ALIVE}))`;
  const queues = await rows<{ id: QueueId }>(
    `SELECT id FROM queue WHERE used_at < ${oldest}
       AND NOT EXISTS (SELECT 1 FROM batch WHERE batch.queue = queue.id)`,
    [before],
  );
  // This walks through all requests, which have no index by queue. There are hardly ever queues to look for.
  if (queues.length > 0) {
    await run(
      `DELETE FROM queue WHERE used_at < ${oldest} AND id = ANY($2::bigint[])
         AND NOT EXISTS (SELECT 1 FROM request WHERE request.queue = queue.id)`,
      [before, queues.map(({ id }) => id)],
    );
  }
  await run(
    `WITH gone AS (
       DELETE FROM account WHERE used_at < ${oldest}
         AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.account = account.id) RETURNING id
     )
     DELETE FROM learnt_limit USING gone WHERE account = gone.id`,
    [before],
  );
}
