import type { BatchSummary, OpenBatch } from '../../ledger/ledger.ts';
import type { Slowness } from '../../orchestrator/model/batch-times.ts';
import { stateWords } from '../../report/text/state-words.ts';

/** A batch as `--json` prints it: the moments as text, and who works on it. */
export function batchJson(
  batch: BatchSummary,
  open: OpenBatch | undefined,
  slow?: Slowness,
): object {
  const { token, createdAt, acceptedAt, endedAt, ...rest } = batch;
  return {
    id: token,
    ...rest,
    words: stateWords(batch, open?.owner !== undefined, slow),
    createdAt: isoOf(createdAt),
    ...(acceptedAt !== undefined && { acceptedAt: isoOf(acceptedAt) }),
    ...(endedAt !== undefined && { endedAt: isoOf(endedAt) }),
    ...(open?.owner && { owner: open.owner }),
    ...(slow && { slow }),
  };
}

export function isoOf(at: number): string {
  return new Date(at).toISOString();
}

/** Unfinished batches by their token. */
export function byToken(open: readonly OpenBatch[]): ReadonlyMap<string, OpenBatch> {
  return new Map(open.map((batch) => [batch.token, batch]));
}
