import type { Ledger } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';

interface LimitRow {
  readonly tokens: number;
  readonly named: number;
  readonly learntAt: number;
}

export function prepareLimit(store: Store): Ledger['limit'] {
  const find = store.prepare(
    'SELECT tokens, named, learnt_at AS learntAt FROM learnt_limit WHERE account = ? AND model = ?',
  );
  return async (account, model) => {
    const row = (await store.read(() => find.get(account, model))) as LimitRow | undefined;
    return row && { ...row, named: row.named === 1 };
  };
}

export function prepareLearn(store: Store): Ledger['learn'] {
  const put = store.prepare(
    `INSERT OR REPLACE INTO learnt_limit (account, model, tokens, named, learnt_at)
     VALUES (?, ?, ?, ?, ?)`,
  );
  return (account, model, { tokens, named }) =>
    store.write(() => {
      put.run(account, model, tokens, named ? 1 : 0, store.now());
    });
}
