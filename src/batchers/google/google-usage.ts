import { field, fields } from '../../base/json.ts';
import { includingCache } from '../../pricing/usage.ts';
import type { CachedInput, Usage } from '../batcher.ts';
import { int64 } from './google-operation.ts';

/**
 * Cached input costs the same in a batch as outside of it (November 2026), with the exception of two models
 * whose cached rate is halved like the others.
 */
export function cachedInputOf(model: string): CachedInput {
  return /^gemini-3\.(1-flash-lite|5-flash(?!-lite))/.test(model) ? 'discounted' : 'undiscounted';
}

/** Thoughts are paid for like the answer, and so is what tools have read. An embedding says how many it read. */
export function usageOf(answer: unknown): Usage | undefined {
  const { usageMetadata, tokenCount, candidates } = fields(answer);
  if (usageMetadata !== undefined && usageMetadata !== null) {
    const given = fields(usageMetadata);
    const of = (name: string) => int64(given[name]);
    const heard = (name: string) => tokensOf(given[name], 'AUDIO');
    return includingCache({
      inputTokens: of('promptTokenCount') + of('toolUsePromptTokenCount'),
      outputTokens: of('candidatesTokenCount') + of('thoughtsTokenCount'),
      cacheReadTokens: of('cachedContentTokenCount'),
      inputAudioTokens: heard('promptTokensDetails') + heard('toolUsePromptTokensDetails'),
      cacheReadAudioTokens: heard('cacheTokensDetails'),
      outputAudioTokens: heard('candidatesTokensDetails'),
      outputImageTokens: tokensOf(given.candidatesTokensDetails, 'IMAGE'),
      answers: Array.isArray(candidates) ? candidates.length : 1,
    });
  }
  return tokenCount === undefined ? undefined : { inputTokens: int64(tokenCount), outputTokens: 0 };
}

function tokensOf(details: unknown, modality: string): number {
  if (!Array.isArray(details)) return 0;
  return details
    .filter((detail) => field(detail, 'modality') === modality)
    .reduce((sum: number, detail) => sum + int64(field(detail, 'tokenCount')), 0);
}
