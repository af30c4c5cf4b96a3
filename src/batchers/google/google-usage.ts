import type { Usage } from '../batcher.ts';
import { field, fields } from '../shared/outcomes.ts';
import { int64 } from './google-operation.ts';

/** Tokens of an answer. Thoughts are paid for like the answer; an embedding says how many it read. */
export function usageOf(answer: unknown): Usage | undefined {
  const { usageMetadata, tokenCount } = fields(answer);
  const of = (name: string) => int64(field(usageMetadata, name));
  if (usageMetadata !== undefined && usageMetadata !== null) {
    return {
      inputTokens: of('promptTokenCount') + of('toolUsePromptTokenCount'),
      outputTokens: of('candidatesTokenCount') + of('thoughtsTokenCount'),
    };
  }
  return tokenCount === undefined ? undefined : { inputTokens: int64(tokenCount), outputTokens: 0 };
}
