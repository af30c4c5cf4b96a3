import { createHash } from 'node:crypto';
import type { Ledger, QueueId, QueueKey } from '../../ledger.ts';
import { queueIdentity } from '../../queue-identity.ts';
import type { Store } from '../connection/store.ts';

/** SQL: now, and not before an owner that is here has joined, whatever the clock did. */
const USED_AT = 'max(?, (SELECT coalesce(max(joined_at), 0) FROM owner))';

export function prepareAccount(store: Store): Ledger['account'] {
  const upsert = store.prepare(
    `INSERT INTO account (provider, hash, hint, used_at) VALUES (?, ?, ?, ${USED_AT})
     ON CONFLICT (provider, hash)
       DO UPDATE SET hint = coalesce(excluded.hint, hint), used_at = excluded.used_at
     RETURNING id`,
  );
  return ({ provider, hash, hint = null }) =>
    store.write(() => (upsert.get(provider, hash, hint, store.now()) as { id: number }).id);
}

export function prepareQueue(store: Store): Ledger['queue'] {
  const upsert = store.prepare(
    `INSERT INTO queue (hash, account, provider, base, endpoint, model, headers, partition, used_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${USED_AT})
     ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at
     RETURNING id`,
  );
  return (key) => {
    const hash = createHash('sha256').update(queueIdentity(key)).digest();
    const { account, provider, base, endpoint, model, batchHeaders, partition = null } = key;
    const place = [account, provider, base, endpoint, model, JSON.stringify(batchHeaders)];
    return store.write(() => {
      const row = upsert.get(hash, ...place, partition, store.now());
      return (row as { id: QueueId }).id;
    });
  };
}

export function prepareFindQueue(store: Store): (id: QueueId) => QueueKey & { id: QueueId } {
  const find = store.prepare(
    'SELECT account, provider, base, endpoint, model, headers, partition FROM queue WHERE id = ?',
  );
  return (id) => {
    const row = find.get(id) as Omit<QueueKey, 'batchHeaders' | 'partition'> & {
      headers: string;
      partition: string | null;
    };
    const { headers, partition, ...rest } = row;
    return {
      ...rest,
      id,
      batchHeaders: JSON.parse(headers),
      ...(partition !== null && { partition }),
    };
  };
}

export function prepareLimit(store: Store): Ledger['limit'] {
  const find = store.prepare(
    'SELECT tokens, named, learnt_at FROM learnt_limit WHERE account = ? AND model = ?',
  );
  return async (account, quota) => {
    const row = (await store.read(() => find.get(account, quota))) as
      | { tokens: number; named: number; learnt_at: number }
      | undefined;
    if (!row) return undefined;
    const { tokens, named, learnt_at: learntAt } = row;
    return { tokens, named: named === 1, age: Math.abs(store.now() - learntAt) };
  };
}

export function prepareLearn(store: Store): Ledger['learn'] {
  const put = store.prepare(
    `INSERT OR REPLACE INTO learnt_limit (account, model, tokens, named, learnt_at)
     VALUES (?, ?, ?, ?, ?)`,
  );
  return (account, quota, { tokens, named }) =>
    store.write(() => {
      put.run(account, quota, tokens, named ? 1 : 0, store.now());
    });
}
