import type { Ledger, QueueId } from '../../ledger.ts';
import { QUEUE_COLUMNS, type QueueRow, queueOf, queueValues } from '../../sql/queue-row.ts';
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
    `INSERT INTO queue (hash, ${QUEUE_COLUMNS}, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${USED_AT})
     ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at
     RETURNING id`,
  );
  return (key) => {
    const values = queueValues(key);
    return store.write(() => (upsert.get(...values, store.now()) as { id: QueueId }).id);
  };
}

export function prepareFindQueue(store: Store): (id: QueueId) => ReturnType<typeof queueOf> {
  const find = store.prepare(`SELECT id, ${QUEUE_COLUMNS} FROM queue WHERE id = ?`);
  return (id) => queueOf(find.get(id) as QueueRow);
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
