import type { Ledger } from '../../ledger.ts';
import { NOW, type Store } from '../connection/store.ts';

export function prepareLimit(store: Store): Ledger['limit'] {
  return async (account, quota) => {
    const [row] = await store.read((session) =>
      session.rows<{ tokens: number; named: boolean; learnt_at: number; now: number }>(
        `SELECT tokens, named, learnt_at, ${NOW} AS now FROM learnt_limit
         WHERE account = $1 AND quota = $2`,
        [account, quota],
      ),
    );
    if (!row) return undefined;
    const { tokens, named, learnt_at: learntAt, now } = row;
    return { tokens, named, age: Math.abs(store.moment(now) - learntAt) };
  };
}

export function prepareLearn(store: Store): Ledger['learn'] {
  return async (account, quota, { tokens, named }) => {
    await store.write(({ run, now }) =>
      run(
        `INSERT INTO learnt_limit (account, quota, tokens, named, learnt_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (account, quota) DO UPDATE
           SET tokens = excluded.tokens, named = excluded.named, learnt_at = excluded.learnt_at`,
        [account, quota, tokens, named, now],
      ),
    );
  };
}
