import type { Ledger } from '../../ledger.ts';
import { type BatchTimeRow, batchTime, ofModel, selectBatchTimes } from '../../sql/batch-times.ts';
import type { Store } from '../connection/store.ts';

export function prepareBatchTimes(store: Store): Ledger['batchTimes'] {
  const all = store.prepare(selectBatchTimes('TRUE'));
  const some = store.prepare(selectBatchTimes(ofModel('?1', '?2')));
  return async (of) => {
    const rows = await store.read(() => (of ? some.all(of.provider, of.model) : all.all()));
    const now = store.now();
    return (rows as BatchTimeRow[]).map((row) => batchTime(row, now));
  };
}
