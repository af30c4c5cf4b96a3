import type { BatchId, Ledger } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import { costValues } from '../../sql/costs.ts';
import type { Answered } from '../../sql/settlements.ts';
import { inSlices, settlementSize } from '../../sql/slices.ts';
import { AT_ONCE, type Session, type Store } from '../connection/store.ts';
import { settleAll } from '../requests/settle.ts';
import { addCostsOfBatch } from './daily-costs.ts';
import { requireLease } from './lease.ts';

/** The cursor goes with the last slice: after a crash results are read twice, and none is skipped. */
export function prepareCollected(store: Store): Ledger['collected'] {
  const condition = `request.batch = $1 AND request.state = ${REQUEST.planned}`;
  return (lease, settlements, cursor) =>
    inSlices(
      settlements,
      (slice, isLast) =>
        store.write(
          async (transaction) => {
            const { batch, owner } = lease;
            await requireLease(transaction, lease);
            const allowed = { condition, value: batch };
            const keepsBodies = store.keep === 'all';
            const written = await settleAll(transaction, slice, allowed, owner, keepsBodies);
            await addUp(transaction, batch, written, isLast ? cursor : undefined);
            await addCostsOfBatch(transaction, batch, written);
          },
          { notify: true },
        ),
      { ...AT_ONCE, sizeOf: settlementSize },
    );
}

/** Counts the answers of a batch, and what they have cost. */
async function addUp(
  { run }: Session,
  batch: BatchId,
  answers: readonly Answered[],
  cursor: string | undefined,
): Promise<void> {
  if (answers.length === 0 && cursor === undefined) return;
  await run(
    `UPDATE batch SET answered = answered + $6, cursor = coalesce($7, cursor),
       counted = coalesce(counted + $1, $1, counted),
       input_tokens = coalesce(input_tokens + $2, $2, input_tokens),
       output_tokens = coalesce(output_tokens + $3, $3, output_tokens),
       paid = coalesce(paid + $4, $4, paid), saved = coalesce(saved + $5, $5, saved)
     WHERE id = $8`,
    [...costValues(answers), answers.length, cursor ?? null, batch],
  );
}
