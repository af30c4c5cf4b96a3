import type { Batcher, Usage } from '../../batchers/batcher.ts';
import type { Cost } from '../../ledger/ledger.ts';
import type { Answer } from '../../types.ts';
import type { RequestQueue } from '../model/request-queue.ts';

/** What an answer of a batch has cost; `undefined`: it does not say how many tokens it took. */
export function costOf(queue: RequestQueue, answer: Answer): Cost | undefined {
  const usage = usageOf(queue.batcher, answer);
  if (usage === undefined) return undefined;
  const { inputTokens, outputTokens } = usage;
  const listPrice = queue.priceOf(usage);
  if (listPrice === undefined) return { inputTokens, outputTokens };
  const { priceShare } = queue.completionWindow;
  return {
    inputTokens,
    outputTokens,
    paid: listPrice * priceShare,
    saved: listPrice * (1 - priceShare),
  };
}

/** A batcher may be the user's and throw: its caller must not pay for that. */
function usageOf(batcher: Batcher, { json }: Answer): Usage | undefined {
  try {
    return batcher.usage(json);
  } catch {
    return undefined;
  }
}
