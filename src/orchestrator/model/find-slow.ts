import type { BatchSummary, BatchTime, Ledger, OpenBatch } from '../../ledger/ledger.ts';
import { leastSlow, type Slowness, slownessOf } from './batch-times.ts';

export type { Slowness };

/**
 * Which of these batches are slow now, by token. Each model with a batch that is old enough is asked for once. A batch
 * that no process asks about is none of them: it may have ended long ago. `unfinished`: all that are open.
 */
export async function findSlow(
  ledger: Pick<Ledger, 'batchTimes'>,
  batches: readonly BatchSummary[],
  unfinished: readonly Pick<OpenBatch, 'token' | 'owner'>[],
  now: number,
): Promise<ReadonlyMap<string, Slowness>> {
  const watched = new Set(unfinished.flatMap(({ token, owner }) => (owner ? token : [])));
  const slow = new Map<string, Slowness>();
  const models = new Map<string, Promise<BatchTime[]>>();
  for (const { token, state, provider, model, count, acceptedAt = now } of batches) {
    const age = now - acceptedAt;
    if (state !== 'accepted' || age < leastSlow || !watched.has(token)) continue;
    const name = `${provider} ${model}`;
    const times = models.get(name) ?? ledger.batchTimes({ provider, model });
    models.set(name, times);
    const slowness = slownessOf({ token, count, age }, await times);
    if (slowness) slow.set(token, slowness);
  }
  return slow;
}
