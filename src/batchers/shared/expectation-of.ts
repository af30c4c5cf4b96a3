import { fields, type JsonObject } from '../../base/json.ts';
import type { Expectation } from '../../pricing/expectation.ts';

/** What a request says of its answers, by the words that all providers use. */
export function expectationOf(endpoint: string, json: JsonObject): Expectation {
  // Embeddings have no output.
  if (/embed/i.test(endpoint)) return { outputLimit: 0, answers: 1 };
  // Google's API takes both spellings.
  const config = fields(json.generationConfig ?? json.generation_config);
  const limit = firstNumber(
    json.max_completion_tokens,
    json.max_output_tokens,
    json.max_tokens,
    config.maxOutputTokens,
    config.max_output_tokens,
  );
  const answers = firstNumber(json.n, config.candidateCount, config.candidate_count) ?? 1;
  return { outputLimit: limit === undefined ? undefined : limit * answers, answers };
}

function firstNumber(...values: readonly unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number' && value >= 0);
}
