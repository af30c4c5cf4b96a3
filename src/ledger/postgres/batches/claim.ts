import type { BatchId, ClaimedBatch, Ledger, Member } from '../../ledger.ts';
import { type ClaimedBatchRow, claimedBatch } from '../../sql/claimed-batch.ts';
import { BATCH } from '../../sql/codes.ts';
import { MEMBER_COLUMNS, type MemberRow, memberOf } from '../../sql/members.ts';
import { findQueues } from '../accounts/accounts.ts';
import type { Session, Store, Transaction } from '../connection/store.ts';
import { ALIVE_OWNERS } from '../owners/alive.ts';
import type { Owners } from '../owners/owners.ts';

export function prepareClaim(store: Store, owners: Owners): Ledger['claim'] {
  return (owner, batch) =>
    store.write(
      async (transaction) => {
        await owners.require(transaction, owner);
        const row = await lockFree(transaction, batch);
        if (!row) return undefined;
        const lease = { batch, owner, epoch: row.epoch + 1 };
        await transaction.run('UPDATE batch SET owner = $2, epoch = $3 WHERE id = $1', [
          batch,
          owner,
          lease.epoch,
        ]);
        const queues = await findQueues(transaction, [row.queue]);
        const queue = queues.get(row.queue) as ClaimedBatch['queue'];
        const members = await readLines(transaction, batch);
        return claimedBatch(row, transaction.now, { lease, queue, members });
      },
      { durable: true, notify: true },
    );
}

/**
 * The batch is locked before its owner is looked at. In one statement with the lock, the owner would be
 * looked at before the wait for the lock, and two owners could claim one batch.
 */
async function lockFree(
  transaction: Transaction,
  batch: BatchId,
): Promise<ClaimedBatchRow | undefined> {
  const [row] = await transaction.rows<ClaimedBatchRow>(
    `SELECT token, queue, owner, epoch, state, handle, remote_id, cursor, creating_at, accepted_at,
       traces
     FROM batch WHERE id = $1 AND state < ${BATCH.ended} FOR UPDATE`,
    [batch],
  );
  if (!row) return undefined;
  const alive = await transaction.rows(`SELECT 1 WHERE $1::bigint IN ${ALIVE_OWNERS}`, [row.owner]);
  return alive.length === 0 ? row : undefined;
}

export async function readLines(session: Session, batch: BatchId): Promise<Member[]> {
  const rows = await session.rows<MemberRow>(
    `SELECT ${MEMBER_COLUMNS} FROM request WHERE batch = $1 ORDER BY seq`,
    [batch],
  );
  return rows.map((row) => ({ ...memberOf(row), fingerprint: new Uint8Array(row.fingerprint) }));
}

export function prepareClaimable(store: Store): Ledger['claimable'] {
  return async (account) => {
    const rows = await store.rows<{ id: BatchId }>(
      `SELECT batch.id FROM batch JOIN queue ON queue.id = batch.queue
       WHERE batch.state < ${BATCH.ended} AND batch.owner NOT IN ${ALIVE_OWNERS}
         AND ($1::bigint IS NULL OR queue.account = $1)
       ORDER BY batch.id`,
      [account ?? null],
    );
    return rows.map(({ id }) => id);
  };
}
