import type { BatchId } from '../ledger.ts';

/** The sum of what a prune drops, or would drop. */
export interface Dropped {
  requests: number;
  bytes: number;
  /** How many requests each batch has lost. */
  readonly batches: Map<BatchId, number>;
}

export interface DroppedRow {
  readonly batch: BatchId | null;
  readonly bytes: number;
}

export function countDropped(rows: readonly DroppedRow[], dropped: Dropped): void {
  for (const { batch, bytes } of rows) {
    dropped.requests += 1;
    dropped.bytes += bytes;
    if (batch !== null) dropped.batches.set(batch, (dropped.batches.get(batch) ?? 0) + 1);
  }
}
