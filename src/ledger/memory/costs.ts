import { isOpen } from '../batch-moves.ts';
import { batchesInAverage, costOfAll, requireBudget } from '../cost-sum.ts';
import { dayOf, groupCosts, type StoredCosts, sumNames, sumOfCosts } from '../daily-costs.ts';
import type { CostLabels, Ledger, OrdinaryCosts, QueueKey, Settlement } from '../ledger.ts';
import { batchCosts, daysOf } from '../sql/daily-costs.ts';
import { type MemoryBatch, type MemoryState, requireOwner } from './state.ts';

export function addCost(
  state: MemoryState,
  batch: MemoryBatch,
  settlements: readonly Settlement[],
): void {
  const { provider, model } = state.queues.get(batch.queue) as QueueKey;
  const { estimate = 0 } = batch.cost;
  for (const { labels, costs } of batchCosts(settlements)) {
    const { name, tags } = labels ?? batch;
    const sums = sumOfCosts(costs);
    sums.estimate = (estimate / batch.count) * (sums.calls - sums.unpriced);
    addToDay(state, { provider, model, lane: 'batch', name, tags }, sums);
  }
  const sum = costOfAll(settlements);
  if (sum === undefined) return;
  const { cost } = batch;
  cost.inputTokens = (cost.inputTokens ?? 0) + sum.inputTokens;
  cost.outputTokens = (cost.outputTokens ?? 0) + sum.outputTokens;
  if (sum.paid !== undefined) cost.paid = (cost.paid ?? 0) + sum.paid;
  if (sum.saved !== undefined) cost.saved = (cost.saved ?? 0) + sum.saved;
  batch.counted += sum.counted;
}

export function addOrdinaryCosts(state: MemoryState, spent: readonly OrdinaryCosts[]): void {
  for (const { costs, ...labels } of spent) addToDay(state, labels, sumOfCosts(costs));
}

function addToDay(
  state: MemoryState,
  { provider, model, lane, name, tags }: CostLabels,
  sums: ReturnType<typeof sumOfCosts>,
): void {
  if (sums.calls === 0) return;
  const labels = { day: dayOf(state.now()), provider, model, lane, name, tags };
  const key = JSON.stringify(labels);
  const known: StoredCosts = state.dailyCosts.get(key) ?? { ...labels, ...sumOfCosts([]) };
  state.dailyCosts.set(key, known);
  for (const sum of sumNames) known[sum] += sums[sum];
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

/** What was spent, and what it may cost. */
export function costMethods(state: MemoryState) {
  return {
    async costs(query) {
      const [since, until] = daysOf(query);
      const rows = [...state.dailyCosts.values()];
      const within = rows.filter(({ day = '' }) => day >= since && day <= until);
      return groupCosts(within, query);
    },
    async spend(owner, dollars, budget, purse) {
      const run = purse ?? requireOwner(state, owner).run;
      if (budget !== undefined) requireRoom(state, run, dollars, budget);
      state.runCosts.set(run, (state.runCosts.get(run) ?? 0) + dollars);
    },
    async averageOutput({ provider, endpoint, model }) {
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
    },
  } satisfies Partial<Ledger>;
}
