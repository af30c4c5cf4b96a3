import type { Ledger, QueueId } from '../../ledger.ts';
import { QUEUE_COLUMNS, type QueueRow, queueOf, queueValues } from '../../sql/queue-row.ts';
import type { Store } from '../connection/store.ts';

/** SQL: now, and not before an owner that is here has joined, whatever the clock did. */
const USED_AT = 'max(?, (SELECT coalesce(max(joined_at), 0) FROM owner))';

export function accountMethods(store: Store) {
  const upsertAccount = store.prepare(
    `INSERT INTO account (provider, hash, hint, used_at) VALUES (?, ?, ?, ${USED_AT})
     ON CONFLICT (provider, hash)
       DO UPDATE SET hint = coalesce(excluded.hint, hint), used_at = excluded.used_at
     RETURNING id`,
  );
  const upsertQueue = store.prepare(
    `INSERT INTO queue (hash, ${QUEUE_COLUMNS}, used_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${USED_AT})
     ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at
     RETURNING id`,
  );
  const findLimit = store.prepare(
    'SELECT tokens, named, learnt_at FROM learnt_limit WHERE account = ? AND model = ?',
  );
  const putLimit = store.prepare(
    `INSERT OR REPLACE INTO learnt_limit (account, model, tokens, named, learnt_at)
     VALUES (?, ?, ?, ?, ?)`,
  );
  type LimitRow = { tokens: number; named: number; learnt_at: number };
  return {
    account: ({ provider, hash, hint = null }) =>
      store.write(
        () => (upsertAccount.get(provider, hash, hint, store.now()) as { id: number }).id,
      ),
    queue(key) {
      const values = queueValues(key);
      return store.write(() => (upsertQueue.get(...values, store.now()) as { id: QueueId }).id);
    },
    async limit(account, quota) {
      const row = (await store.read(() => findLimit.get(account, quota))) as LimitRow | undefined;
      if (!row) return undefined;
      const { tokens, named, learnt_at: learntAt } = row;
      return { tokens, named: named === 1, age: Math.abs(store.now() - learntAt) };
    },
    learn: (account, quota, { tokens, named }) =>
      store.write(() => void putLimit.run(account, quota, tokens, named ? 1 : 0, store.now())),
  } satisfies Partial<Ledger>;
}

export function prepareFindQueue(store: Store): (id: QueueId) => ReturnType<typeof queueOf> {
  const find = store.prepare(`SELECT id, ${QUEUE_COLUMNS} FROM queue WHERE id = ?`);
  return (id) => queueOf(find.get(id) as QueueRow);
}
