import { batchesInAverage, costOfAll } from '../cost-sum.ts';
import type { Settlement } from '../ledger.ts';

/** SQL: the `average` of output tokens. Its values: the provider, the endpoint and the model. */
export const averageOutput = `
  SELECT CAST(sum(output_tokens) AS double precision) / sum(counted) AS average FROM (
    SELECT output_tokens, counted FROM batch
    WHERE queue IN (
      SELECT id FROM queue WHERE provider = ? AND endpoint = ? AND model = ?
    ) AND counted > 0
    ORDER BY id DESC LIMIT ${batchesInAverage}
  ) AS newest`;

/** The sum of what answers have cost: how many are counted, their tokens, the dollars paid and saved. */
export function costValues(answers: readonly Settlement[]): (number | null)[] {
  const sum = costOfAll(answers);
  const { counted, inputTokens, outputTokens, paid, saved } = sum ?? {};
  return [counted, inputTokens, outputTokens, paid, saved].map((value) => value ?? null);
}
