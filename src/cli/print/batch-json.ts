import type { BatchSummary, OpenBatch } from '../../ledger/ledger.ts';
import { stateWords } from './batch-words.ts';

/** A batch as `--json` prints it: the moments as text, and who works on it. */
export function batchJson(batch: BatchSummary, open: OpenBatch | undefined): object {
  const { token, createdAt, acceptedAt, endedAt, ...rest } = batch;
  return {
    id: token,
    ...rest,
    words: stateWords(batch, open?.owner !== undefined),
    createdAt: isoOf(createdAt),
    ...(acceptedAt !== undefined && { acceptedAt: isoOf(acceptedAt) }),
    ...(endedAt !== undefined && { endedAt: isoOf(endedAt) }),
    ...(open?.owner && { owner: open.owner }),
  };
}

export function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** Unfinished batches by their token. */
export function byToken(open: readonly OpenBatch[]): ReadonlyMap<string, OpenBatch> {
  return new Map(open.map((batch) => [batch.token, batch]));
}
