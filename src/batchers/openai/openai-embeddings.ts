import type { JsonObject } from '../../base/json.ts';
/** OpenAI counts the inputs of all requests of a batch: one request may hold two thousand of them. */
export const mostEmbeddingInputs = 50_000;

/** A text, texts, one list of tokens, or lists of tokens. */
export function embeddingInputs({ input }: JsonObject): number {
  const isList = Array.isArray(input) && typeof input[0] !== 'number';
  return isList ? Math.max(input.length, 1) : 1;
}
