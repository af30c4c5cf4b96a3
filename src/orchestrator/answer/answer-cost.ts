import type { Batcher, Usage } from '../../batchers/batcher.ts';
import type { Cost } from '../../ledger/ledger.ts';
import type { ModelPrice, Terms } from '../../pricing/model-price.ts';

/**
 * What an answer has cost on these terms, or as an ordinary call; `undefined`: it does not say how many
 * tokens it took.
 */
export function costOf(
  { batcher, price }: { readonly batcher: Batcher; readonly price: ModelPrice },
  json: unknown,
  terms?: Terms,
): Cost | undefined {
  const usage = usageOf(batcher, json);
  if (usage === undefined) return undefined;
  const { inputTokens, outputTokens, answers = 1 } = usage;
  const charge = price.charge(usage, terms);
  const cost: Cost =
    charge === undefined
      ? { inputTokens, outputTokens, answers }
      : { inputTokens, outputTokens, answers, paid: charge.paid, saved: charge.saved };
  const { cacheReadTokens = 0, cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = usage;
  const written = cacheWriteTokens + cacheWrite1hTokens;
  if (cacheReadTokens + written === 0) return cost;
  return { ...cost, cacheReadTokens, cacheWriteTokens: written };
}

/** A batcher may be the user's and throw: its caller must not pay for that. */
function usageOf(batcher: Batcher, json: unknown): Usage | undefined {
  try {
    return batcher.usage(json);
  } catch {
    return undefined;
  }
}
