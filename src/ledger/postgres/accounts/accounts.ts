import type { Ledger, QueueId } from '../../ledger.ts';
import { QUEUE_COLUMNS, type QueueRow, queueOf, queueValues } from '../../sql/queue-row.ts';
import { NOW, type Session, type Store } from '../connection/store.ts';

/** Durable, as everything that hands out an id: a server that crashed must not hand it out again. */
const durable = { durable: true };

/** SQL: the moment `$1`, and not before an owner that is here has joined. */
const USED_AT = 'greatest($1::bigint, (SELECT max(joined_at) FROM owner))';

type LimitRow = { tokens: number; named: boolean; learnt_at: number; now: number };

export function accountMethods(store: Store) {
  return {
    account: ({ provider, hash, hint = null }) =>
      store.write(async ({ rows, now }) => {
        const [row] = await rows<{ id: number }>(
          `INSERT INTO account (used_at, provider, hash, hint) VALUES (${USED_AT}, $2, $3, $4)
           ON CONFLICT (provider, hash) DO UPDATE
             SET hint = coalesce(excluded.hint, account.hint), used_at = excluded.used_at
           RETURNING id`,
          [now, provider, Buffer.from(hash), hint],
        );
        return (row as { id: number }).id;
      }, durable),
    queue: (key) =>
      store.write(async ({ rows, now }) => {
        const [row] = await rows<{ id: QueueId }>(
          `INSERT INTO queue (used_at, hash, ${QUEUE_COLUMNS})
           VALUES (${USED_AT}, $2, $3, $4, $5, $6, $7, $8, $9)
           ON CONFLICT (hash) DO UPDATE SET used_at = excluded.used_at RETURNING id`,
          [now, ...queueValues(key)],
        );
        return (row as { id: QueueId }).id;
      }, durable),
    async limit(account, quota) {
      const [row] = await store.rows<LimitRow>(
        `SELECT tokens, named, learnt_at, ${NOW} AS now FROM learnt_limit
         WHERE account = $1 AND quota = $2`,
        [account, quota],
      );
      if (!row) return undefined;
      const { tokens, named, learnt_at: learntAt, now } = row;
      return { tokens, named, age: Math.abs(store.moment(now) - learntAt) };
    },
    async learn(account, quota, { tokens, named }) {
      await store.write(({ run, now }) =>
        run(
          `INSERT INTO learnt_limit (account, quota, tokens, named, learnt_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (account, quota) DO UPDATE
             SET tokens = excluded.tokens, named = excluded.named, learnt_at = excluded.learnt_at`,
          [account, quota, tokens, named, now],
        ),
      );
    },
  } satisfies Partial<Ledger>;
}

export async function findQueues(session: Session, ids: readonly QueueId[]) {
  const rows = await session.rows<QueueRow>(
    `SELECT id, ${QUEUE_COLUMNS} FROM queue WHERE id = ANY($1::bigint[])`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, queueOf(row)]));
}
