import type { Ledger } from '../../ledger.ts';
import { type BatchTimeRow, batchTime, ofModel, selectBatchTimes } from '../../sql/batch-times.ts';
import { NOW, type Store } from '../connection/store.ts';

export function prepareBatchTimes(store: Store): Ledger['batchTimes'] {
  const all = withNow(selectBatchTimes('TRUE'));
  const some = withNow(selectBatchTimes(ofModel('$1', '$2')));
  return async (of) => {
    const rows = of
      ? await store.rows<TimedRow>(some, [of.provider, of.model])
      : await store.rows<TimedRow>(all);
    return rows.map((row) => batchTime(row, store.moment(row.now)));
  };
}

type TimedRow = BatchTimeRow & { readonly now: number };

const withNow = (sql: string) => `SELECT *, ${NOW} AS now FROM (${sql}) AS newest`;
