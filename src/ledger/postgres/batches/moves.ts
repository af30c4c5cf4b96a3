import { nobody } from '../../admission-rules.ts';
import { checkMove, checkPolled, type Finish } from '../../batch-moves.ts';
import type { Lease, Ledger, RemoteMark } from '../../ledger.ts';
import { leaseLost } from '../../lost.ts';
import { BATCH, REQUEST } from '../../sql/codes.ts';
import type { Session, Store } from '../connection/store.ts';
import { addMessages } from '../outbox/outbox.ts';
import { findLeased, requireLease } from './lease.ts';

interface Update {
  readonly lease: Lease;
  readonly remote: RemoteMark;
}

export function moveMethods(store: Store) {
  return {
    staged: (lease, handle) =>
      store.write(async (transaction) => {
        checkMove(await requireLease(transaction, lease), 'staged');
        await transaction.run(
          `UPDATE batch SET state = ${BATCH.staged}, handle = $2 WHERE id = $1`,
          [lease.batch, JSON.stringify(handle)],
        );
      }),
    accepted: (lease, remote) =>
      store.write(
        async (transaction) => {
          checkMove(await requireLease(transaction, lease), 'accepted');
          await transaction.run(
            `UPDATE batch SET state = ${BATCH.accepted}, accepted_at = $2 WHERE id = $1`,
            [lease.batch, transaction.now],
          );
          await markRemotes(transaction, [{ lease, remote }]);
        },
        { durable: true },
      ),
    async polled(updates) {
      if (updates.length === 0) return;
      const leases = updates.map(({ lease }) => lease);
      const lost = await store.write(async (transaction) => {
        const leased = await findLeased(transaction, leases);
        for (const batch of leased.values()) checkPolled(batch);
        const isHeld = ({ lease }: Update) => leased.has(lease.batch);
        await markRemotes(transaction, updates.filter(isHeld));
        return updates.filter((update) => !isHeld(update)).map(({ lease }) => lease);
      });
      if (lost.length > 0) throw leaseLost(lost);
    },
    giveBack: (lease) =>
      store.write(
        async (transaction) => {
          await requireLease(transaction, lease);
          await transaction.run(`UPDATE batch SET owner = ${nobody} WHERE id = $1`, [lease.batch]);
        },
        { notify: true },
      ),
  } satisfies Partial<Ledger>;
}

/** Stores what the provider last said about batches. Counts that it leaves out stay as they were. */
async function markRemotes(session: Session, updates: readonly Update[]): Promise<void> {
  if (updates.length === 0) return;
  const remotes = updates.map(({ remote }) => remote);
  await session.run(
    `UPDATE batch SET remote_id = given.remote_id, raw = given.raw,
       counts = coalesce(given.counts, batch.counts)
     FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[])
       AS given (batch, remote_id, raw, counts)
     WHERE batch.id = given.batch`,
    [
      updates.map(({ lease }) => lease.batch),
      remotes.map(({ id }) => id),
      remotes.map(({ raw }) => raw),
      remotes.map(({ counts }) => (counts ? JSON.stringify(counts) : null)),
    ],
  );
}

export function prepareFinish(store: Store): Finish {
  return (lease, to, failure, messages = []) =>
    store.write(
      async (transaction) => {
        const { run, now } = transaction;
        checkMove(await requireLease(transaction, lease), to);
        await run(
          `UPDATE request SET state = ${REQUEST.admitted}, batch = NULL, seq = NULL, owner = $2, at = $3
           WHERE batch = $1 AND state = ${REQUEST.planned}`,
          [lease.batch, lease.owner, now],
        );
        await run('UPDATE batch SET state = $2, ended_at = $3, failure = $4 WHERE id = $1', [
          lease.batch,
          BATCH[to],
          now,
          failure ?? null,
        ]);
        await addMessages(transaction, messages);
      },
      { notify: true },
    );
}
