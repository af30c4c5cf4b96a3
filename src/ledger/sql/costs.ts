import { batchesInAverage, costOfAll } from '../cost-sum.ts';
import type { Settlement } from '../ledger.ts';

/** SQL: the `average` of output tokens, by where the provider, the endpoint and the model stand. */
export const averageOutput = (provider: string, endpoint: string, model: string) => `
  SELECT CAST(sum(output_tokens) AS double precision) / sum(counted) AS average FROM (
    SELECT output_tokens, counted FROM batch
    WHERE queue IN (
      SELECT id FROM queue WHERE provider = ${provider} AND endpoint = ${endpoint} AND model = ${model}
    ) AND counted > 0
    ORDER BY id DESC LIMIT ${batchesInAverage}
  ) AS newest`;

/** The sum of what answers have cost: how many are counted, their tokens, the dollars paid and saved. */
export function costValues(answers: readonly Settlement[]): (number | null)[] {
  const sum = costOfAll(answers);
  const { counted, inputTokens, outputTokens, paid, saved } = sum ?? {};
  return [counted, inputTokens, outputTokens, paid, saved].map((value) => value ?? null);
}
