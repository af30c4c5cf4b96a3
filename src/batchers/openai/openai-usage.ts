import { count, field, fields } from '../../base/json.ts';
import { includingCache } from '../../pricing/usage.ts';
import type { CachedInput, Expectation, Route, Usage } from '../batcher.ts';

type CacheWrites = Pick<Expectation, 'cacheWriteTokens'>;

/** Batches have no cached rate for models before GPT-5 (November 2026). */
export function cachedInputOf(model: string): CachedInput {
  return /^(ft:)?(chatgpt-|gpt-[34]|o\d)/.test(model) ? 'uncached' : 'discounted';
}

/** Prompts are cached from so many tokens on; a token has about four letters. */
const leastCached = 4 * 1_024;

/**
 * The newest models write every longer prompt to their cache, unless the request wants to say itself what is
 * cached, and charge for it. Writing is free, and has no price in the list, at all others.
 */
export function cacheWrites({ endpoint, body }: Pick<Route, 'endpoint' | 'body'>): CacheWrites {
  const isCached = /(completions|responses)$/.test(endpoint) && body.length >= leastCached;
  return isCached && !isExplicit.test(body) ? { cacheWriteTokens: Number.POSITIVE_INFINITY } : {};
}

const isExplicit = /"prompt_cache_options":\s*\{[^}]*"mode":\s*"explicit"/;

/** The usage of chat completions, responses, images and embeddings, by OpenAI's words and those of services like it. */
export function openaiUsage(json: unknown): Usage | undefined {
  const { usage, choices, output } = fields(json);
  if (usage === undefined || usage === null) return undefined;
  const counts = fields(usage);
  const input = fields(
    counts.prompt_tokens_details ?? counts.input_tokens_details ?? counts.prompt_token_details,
  );
  const written = fields(counts.completion_tokens_details ?? counts.output_tokens_details);
  const cached = input.cached_tokens ?? counts.prompt_cache_hit_tokens ?? counts.num_cached_tokens;
  return includingCache({
    inputTokens: count(counts.prompt_tokens ?? counts.input_tokens),
    outputTokens: count(counts.completion_tokens ?? counts.output_tokens),
    cacheReadTokens: count(cached),
    cacheWriteTokens: count(input.cache_write_tokens),
    inputAudioTokens: count(input.audio_tokens),
    inputImageTokens: count(input.image_tokens),
    outputAudioTokens: count(written.audio_tokens),
    outputImageTokens: count(written.image_tokens),
    webSearches: Array.isArray(output) ? output.filter(isSearch).length : 0,
    answers: Array.isArray(choices) ? choices.length : 1,
  });
}

/** Opening a page that was found, or looking for something in it, is no search. */
function isSearch(item: unknown): boolean {
  const action = field(field(item, 'action'), 'type');
  return field(item, 'type') === 'web_search_call' && (action === undefined || action === 'search');
}
