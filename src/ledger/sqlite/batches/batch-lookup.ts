import type { BatchId, OwnerId } from '../../ledger.ts';
import type { Store } from '../connection/store.ts';

interface FoundBatch {
  readonly token: string;
  readonly state: number;
  readonly owner: OwnerId;
}

export type BatchLookup = (batch: BatchId) => FoundBatch | undefined;

/** Reads each batch once; a lookup is valid within one transaction. */
export function prepareBatchLookup(store: Store): () => BatchLookup {
  const find = store.prepare('SELECT token, state, owner FROM batch WHERE id = ?');
  return () => {
    const known = new Map<BatchId, FoundBatch | undefined>();
    return (batch) => {
      if (!known.has(batch)) known.set(batch, find.get(batch) as FoundBatch | undefined);
      return known.get(batch);
    };
  };
}
