import { count, field, fields } from '../../base/json.ts';
import { includingCache } from '../../pricing/usage.ts';
import { claudeUsage } from '../anthropic/anthropic-usage.ts';
import type { Usage } from '../batcher.ts';
import { openaiUsage } from '../openai/openai-usage.ts';

/** The usage of an answer, which each family of models tells in words of its own. */
export function bedrockUsage(json: unknown): Usage | undefined {
  const { usage, inputTextTokenCount, prompt_token_count: prompt, results } = fields(json);
  const counts = fields(usage);
  // Converse, and Nova by InvokeModel. Its input is without what was read from the cache or written to it.
  if (counts.inputTokens !== undefined) {
    const cacheReadTokens = count(counts.cacheReadInputTokens ?? counts.cacheReadInputTokenCount);
    const cacheWriteTokens = count(
      counts.cacheWriteInputTokens ?? counts.cacheWriteInputTokenCount,
    );
    return {
      inputTokens: count(counts.inputTokens) + cacheReadTokens + cacheWriteTokens,
      outputTokens: count(counts.outputTokens),
      cacheReadTokens,
      cacheWriteTokens,
    };
  }
  if (counts.input_tokens !== undefined) return claudeUsage(json);
  if (usage !== undefined) return openaiUsage(json);
  // Titan, and Llama.
  if (inputTextTokenCount !== undefined) {
    const [first] = Array.isArray(results) ? results : [];
    return includingCache({
      inputTokens: count(inputTextTokenCount),
      outputTokens: count(field(first, 'tokenCount')),
    });
  }
  if (prompt === undefined) return undefined;
  return includingCache({
    inputTokens: count(prompt),
    outputTokens: count(field(json, 'generation_token_count')),
  });
}
