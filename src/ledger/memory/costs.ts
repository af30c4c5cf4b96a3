import { isOpen } from '../batch-moves.ts';
import { batchesInAverage, costOfAll, requireBudget } from '../cost-sum.ts';
import type { OwnerId, QueueKey, Settlement } from '../ledger.ts';
import { type MemoryBatch, type MemoryState, requireOwner } from './state.ts';

export function addCost(batch: MemoryBatch, settlements: readonly Settlement[]): void {
  const sum = costOfAll(settlements);
  if (sum === undefined) return;
  const { cost } = batch;
  cost.inputTokens = (cost.inputTokens ?? 0) + sum.inputTokens;
  cost.outputTokens = (cost.outputTokens ?? 0) + sum.outputTokens;
  if (sum.paid !== undefined) cost.paid = (cost.paid ?? 0) + sum.paid;
  if (sum.saved !== undefined) cost.saved = (cost.saved ?? 0) + sum.saved;
  batch.counted += sum.counted;
}

/**
 * Throws where the budget has no room. A batch that was not created counts only while its owner is there to
 * create it.
 */
export function requireRoom(
  state: MemoryState,
  run: string,
  estimate: number,
  budget: number,
): void {
  let spent = state.runCosts.get(run) ?? 0;
  let underWay = 0;
  for (const batch of state.batches.values()) {
    if (batch.run !== run) continue;
    const { paid = 0, estimate: estimated = 0 } = batch.cost;
    spent += paid;
    const isCreated = batch.state !== 'planned' && batch.state !== 'staged';
    const mayCost = isCreated || state.owners.get(batch.owner)?.standing === 'here';
    if (isOpen(batch.state) && mayCost) underWay += Math.max(estimated - paid, 0);
  }
  requireBudget({ budget, spent, underWay, estimate });
}

export function spend(
  state: MemoryState,
  owner: OwnerId,
  dollars: number,
  budget: number | undefined,
  purse: string | undefined,
): void {
  const run = purse ?? requireOwner(state, owner).run;
  if (budget !== undefined) requireRoom(state, run, dollars, budget);
  state.runCosts.set(run, (state.runCosts.get(run) ?? 0) + dollars);
}

export function averageOutput(
  state: MemoryState,
  { provider, endpoint, model }: Pick<QueueKey, 'provider' | 'endpoint' | 'model'>,
): number | undefined {
  const past = [...state.batches.values()].filter(({ queue: id, counted }) => {
    const queue = state.queues.get(id);
    const isLike =
      queue?.provider === provider && queue.endpoint === endpoint && queue.model === model;
    return isLike && counted > 0;
  });
  let tokens = 0;
  let answers = 0;
  for (const { cost, counted } of past.slice(-batchesInAverage)) {
    tokens += cost.outputTokens ?? 0;
    answers += counted;
  }
  return answers === 0 ? undefined : tokens / answers;
}
