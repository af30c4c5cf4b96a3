import type { JsonObject } from '../../server/json.ts';
import type { DialectAnswer } from '../../world/model/execute.ts';
import { estimateTokens } from '../../world/model/prompt.ts';
import { vectorOf } from './embeddings.ts';

const dimensions = 8;

/** A list of vectors for each list of texts. */
export function embedInContext({ inputs, model }: JsonObject, n: number): DialectAnswer {
  const data = listOf(inputs).map((chunks, index) => ({
    object: 'list',
    data: listOf(chunks).map((text, at) => ({
      object: 'embedding',
      embedding: vectorOf(text, dimensions, n),
      index: at,
    })),
    index,
  }));
  return answerOf(data, model, estimateTokens(inputs));
}

/** A score for each document, best first. */
export function rank({ query, documents, model }: JsonObject, n: number): DialectAnswer {
  const data = listOf(documents).map((_document, index) => ({
    index,
    relevance_score: 1 / (index + 1) - n / 1e9,
  }));
  return answerOf(data, model, estimateTokens(query, documents));
}

function answerOf(data: object[], model: unknown, tokens: number): DialectAnswer {
  const body = { object: 'list', data, model: String(model), usage: { total_tokens: tokens } };
  return { inputTokens: tokens, outputTokens: 0, body };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}
