import { LeaseLostError } from '../../errors.ts';
import type { Answer } from '../../types.ts';
import { deliver } from '../collect/delivery.ts';
import { letGoOf } from '../collect/dissolve.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';

/**
 * Who waits is told. The batch stays in the ledger, where it belongs to nobody: another process, or a
 * later call of this one, may have more luck with it.
 */
export async function giveUpOn(
  { ledger, logger, batches, report }: Workshop,
  batch: ActiveBatch,
  answer: Answer,
): Promise<void> {
  logger.error(`batchling gave up on batch ${batch.token}`, { body: answer.body });
  batch.stuck = answer;
  batch.notify({ notice: 'gave-up', ...batch.facts() });
  batch.makeRoom();
  batch.outcomeIsKnown();
  for (const { pending } of batch.members.values()) {
    if (pending === undefined) continue;
    deliver(pending, answer, 'batch', batch.token);
    for (const caller of pending.callers()) letGoOf(caller);
  }
  try {
    await ledger.giveBack(batch.lease);
  } catch (error) {
    if (!(error instanceof LeaseLostError)) {
      report(`give batch ${batch.token} back`, error);
      return;
    }
  }
  batches.delete(batch.lease.batch);
}
