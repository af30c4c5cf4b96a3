import { field } from './outcomes.ts';

/**
 * The most output tokens that an answer can have, by the words that all providers use; `undefined`: the
 * request names no limit. Embeddings have no output.
 */
export function outputLimit(
  endpoint: string,
  json: Readonly<Record<string, unknown>>,
): number | undefined {
  if (/embed/i.test(endpoint)) return 0;
  const { generationConfig } = json;
  const limit = firstNumber(
    json.max_completion_tokens,
    json.max_output_tokens,
    json.max_tokens,
    field(generationConfig, 'maxOutputTokens'),
  );
  if (limit === undefined) return undefined;
  const answers = firstNumber(json.n, field(generationConfig, 'candidateCount')) ?? 1;
  return limit * answers;
}

function firstNumber(...values: readonly unknown[]): number | undefined {
  return values.find((value): value is number => typeof value === 'number' && value >= 0);
}
