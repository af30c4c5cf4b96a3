import { OverBudgetError } from '../base/errors.ts';
import type { Cost, Settlement } from './ledger.ts';

/** The sum of what answers have cost. */
export interface CostSum {
  /** Answers whose tokens are known; a request with `n` has several. */
  readonly counted: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Missing where no answer has a known price. */
  readonly paid: number | undefined;
  readonly saved: number | undefined;
}

/** `undefined`: of none of them the cost is known. */
export function costOfAll(settlements: readonly Settlement[]): CostSum | undefined {
  let counted = 0;
  let inputTokens = 0;
  let outputTokens = 0;
  let paid: number | undefined;
  let saved: number | undefined;
  for (const settlement of settlements) {
    const cost: Cost | undefined = settlement.is === 'answer' ? settlement.cost : undefined;
    if (cost === undefined) continue;
    counted += Math.max(1, cost.answers ?? 1);
    inputTokens += cost.inputTokens;
    outputTokens += cost.outputTokens;
    if (cost.paid !== undefined) paid = (paid ?? 0) + cost.paid;
    if (cost.saved !== undefined) saved = (saved ?? 0) + cost.saved;
  }
  return counted === 0 ? undefined : { counted, inputTokens, outputTokens, paid, saved };
}

/** How many of the newest batches an average is made of: prompts change over time. */
export const batchesInAverage = 20;

/** Throws where a budget has no room for the estimate. All of them are dollars. */
export function requireBudget(room: ConstructorParameters<typeof OverBudgetError>[0]): void {
  const { budget, spent, underWay, estimate } = room;
  if (spent + underWay + estimate > budget) throw new OverBudgetError(room);
}
