import type { Batch } from '../model/batch.ts';
import type { EngineContext } from '../model/engine-context.ts';

/** A cancel would lose what is finished, and one of its scopes has not asked for that. */
export function isKeptFromCancel({ batcher, scopes }: Batch): boolean {
  const { name, cancelLosesWork } = batcher.info;
  if (!cancelLosesWork) return false;
  return [...scopes].some((scope) => scope.settings(name).cancelAtDeadline !== true);
}

/** `when`: `at its deadline`. */
export function warnOfLoss({ logger }: EngineContext, batch: Batch, when: string): void {
  const { name, cancelLosesWork } = batch.batcher.info;
  if (!cancelLosesWork) return;
  const text =
    `${batch.token} is cancelled ${when} (cancelAtDeadline): answers that ${name} has finished ` +
    'are lost although they are paid for, and asking again pays for them again';
  logger.warn(text);
  batch.emit('notice', { notice: 'hint', text });
}
