import type { BatchId, RemoteMark } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';

/** What the provider last said about a batch. Counts it leaves out stay as they were. */
export function prepareRemoteMark(store: Store): (batch: BatchId, remote: RemoteMark) => void {
  const update = store.prepare(
    'UPDATE batch SET remote_id = ?, raw = ?, counts = coalesce(?, counts) WHERE id = ?',
  );
  return (batch, { id, raw, counts }) => {
    update.run(id, raw, counts ? JSON.stringify(counts) : null, batch);
  };
}
