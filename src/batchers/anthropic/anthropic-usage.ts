import { count, field, fields } from '../../base/json.ts';
import type { Usage } from '../batcher.ts';

/** Inference in the United States only costs this share of the list price. */
const insideUnitedStates = 1.1;

/** The usage of a message. Its `input_tokens` are those that were neither read from the cache nor written to it. */
export function claudeUsage(json: unknown): Usage | undefined {
  const { usage } = fields(json);
  if (usage === undefined || usage === null) return undefined;
  const counts = fields(usage);
  const cacheReadTokens = count(counts.cache_read_input_tokens);
  const written = count(counts.cache_creation_input_tokens);
  const cacheWrite1hTokens = count(field(counts.cache_creation, 'ephemeral_1h_input_tokens'));
  return {
    inputTokens:
      count(counts.input_tokens) + cacheReadTokens + Math.max(written, cacheWrite1hTokens),
    outputTokens: count(counts.output_tokens),
    cacheReadTokens,
    cacheWriteTokens: Math.max(0, written - cacheWrite1hTokens),
    cacheWrite1hTokens,
    webSearches: count(field(counts.server_tool_use, 'web_search_requests')),
    ...(counts.inference_geo === 'us' && { priceFactor: insideUnitedStates }),
  };
}
