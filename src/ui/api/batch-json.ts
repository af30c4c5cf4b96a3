import type { BatchSummary, OpenBatch } from '../../ledger/ledger.ts';
import type { LedgerReader } from '../../ledger/view.ts';
import { findSlow } from '../../orchestrator/model/find-slow.ts';
import { stateWords } from '../../report/text/state-words.ts';
import type { BatchJson } from '../api-types.ts';

/** Batches with what only other tables know: who works on them, and whether they are slow. */
export async function batchesJson(
  ledger: LedgerReader,
  batches: readonly BatchSummary[],
  now: number,
): Promise<BatchJson[]> {
  const isOpen = batches.some(({ endedAt }) => endedAt === undefined);
  const open = isOpen ? await ledger.unfinished() : [];
  const owners = new Map(open.map((batch) => [batch.token, batch]));
  const slow = await findSlow(ledger, batches, open, now);
  return batches.map((batch) => batchJson(batch, owners.get(batch.token), slow.get(batch.token)));
}

function batchJson(
  batch: BatchSummary,
  open: OpenBatch | undefined,
  slow: BatchJson['slow'],
): BatchJson {
  const { token: id, ...rest } = batch;
  return {
    id,
    ...rest,
    words: stateWords(batch, open?.owner !== undefined, slow),
    ...(open?.owner && { owner: open.owner }),
    ...(slow && { slow }),
  };
}
