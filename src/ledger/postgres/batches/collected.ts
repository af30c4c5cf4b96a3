import { costOfAll } from '../../cost-sum.ts';
import type { BatchId, Ledger } from '../../ledger.ts';
import { REQUEST } from '../../sql/codes.ts';
import type { Answered } from '../../sql/settlements.ts';
import type { Session, Store } from '../connection/store.ts';
import { settleAll, settlementSize } from '../requests/settle.ts';
import { inSlices } from '../requests/slices.ts';
import { requireLease } from './lease.ts';

/** The cursor goes with the last slice: after a crash results are read twice, and none is skipped. */
export function prepareCollected(store: Store): Ledger['collected'] {
  const condition = `request.batch = $1 AND request.state = ${REQUEST.planned}`;
  return (lease, settlements, cursor) =>
    inSlices(settlements, settlementSize, async (slice, isLast) => {
      const { batch, owner } = lease;
      await store.write(
        async (transaction) => {
          await requireLease(transaction, lease);
          const allowed = { condition, value: batch };
          const keepsBodies = store.keep === 'all';
          const written = await settleAll(transaction, slice, allowed, owner, keepsBodies);
          await addUp(transaction, batch, written, isLast ? cursor : undefined);
        },
        { notify: true },
      );
    });
}

/** What the answers of a batch have cost. A dollar column stays NULL until an answer has a known price. */
async function addUp(
  { run }: Session,
  batch: BatchId,
  answers: readonly Answered[],
  cursor: string | undefined,
): Promise<void> {
  if (answers.length === 0 && cursor === undefined) return;
  const sum = costOfAll(answers);
  await run(
    `UPDATE batch SET answered = answered + $2, cursor = coalesce($3, cursor),
       counted = coalesce(counted + $4, $4, counted),
       input_tokens = coalesce(input_tokens + $5, $5, input_tokens),
       output_tokens = coalesce(output_tokens + $6, $6, output_tokens),
       paid = coalesce(paid + $7, $7, paid), saved = coalesce(saved + $8, $8, saved)
     WHERE id = $1`,
    [
      batch,
      answers.length,
      cursor ?? null,
      sum?.counted ?? null,
      sum?.inputTokens ?? null,
      sum?.outputTokens ?? null,
      sum?.paid ?? null,
      sum?.saved ?? null,
    ],
  );
}
