import { createHash } from 'node:crypto';
import type { Ledger, QueueId, QueueKey } from '../../ledger.ts';
import { queueIdentity } from '../../queue-identity.ts';
import type { Session, Store } from '../connection/store.ts';

/** Durable, as everything that hands out an id: a server that crashed must not hand it out again. */
const durable = { durable: true };

export function prepareAccount(store: Store): Ledger['account'] {
  return async ({ provider, hash, hint = null }) => {
    const bytes = Buffer.from(hash);
    const [known] = await store.read((session) =>
      session.rows<{ id: number; hint: string | null }>(
        'SELECT id, hint FROM account WHERE provider = $1 AND hash = $2',
        [provider, bytes],
      ),
    );
    if (known && (hint === null || hint === known.hint)) return known.id;
    const [row] = await store.write(
      (session) =>
        session.rows<{ id: number }>(
          `INSERT INTO account (provider, hash, hint) VALUES ($1, $2, $3)
           ON CONFLICT (provider, hash) DO UPDATE SET hint = coalesce(excluded.hint, account.hint)
           RETURNING id`,
          [provider, bytes, hint],
        ),
      durable,
    );
    return (row as { id: number }).id;
  };
}

export function prepareQueue(store: Store): Ledger['queue'] {
  return async (key) => {
    const hash = createHash('sha256').update(queueIdentity(key)).digest();
    const [known] = await store.read((session) =>
      session.rows<{ id: QueueId }>('SELECT id FROM queue WHERE hash = $1', [hash]),
    );
    if (known) return known.id;
    const { account, provider, base, endpoint, model, batchHeaders, partition = null } = key;
    const headers = JSON.stringify(batchHeaders);
    const [row] = await store.write(
      (session) =>
        session.rows<{ id: QueueId }>(
          `INSERT INTO queue (hash, account, provider, base, endpoint, model, headers, partition)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
           ON CONFLICT (hash) DO UPDATE SET hash = excluded.hash RETURNING id`,
          [hash, account, provider, base, endpoint, model, headers, partition],
        ),
      durable,
    );
    return (row as { id: QueueId }).id;
  };
}

type QueueRow = Omit<QueueKey, 'batchHeaders' | 'partition'> & {
  readonly id: QueueId;
  readonly headers: string;
  readonly partition: string | null;
};

export async function findQueues(
  session: Session,
  ids: readonly QueueId[],
): Promise<Map<QueueId, QueueKey & { id: QueueId }>> {
  const rows = await session.rows<QueueRow>(
    `SELECT id, account, provider, base, endpoint, model, headers, partition
     FROM queue WHERE id = ANY($1::bigint[])`,
    [ids],
  );
  return new Map(
    rows.map(({ headers, partition, ...rest }) => {
      const queue = {
        ...rest,
        batchHeaders: JSON.parse(headers),
        ...(partition !== null && { partition }),
      };
      return [rest.id, queue];
    }),
  );
}
