import { expect, it } from 'vitest';
import { cachedInputOf, openaiUsage } from './openai-usage.ts';

it.each([
  [
    { usage: { prompt_tokens: 9, prompt_tokens_details: { cached_tokens: 7, audio_tokens: 1 } } },
    { inputTokens: 9, cacheReadTokens: 7, inputAudioTokens: 1 },
  ],
  // Some do not count what was cached as input.
  [
    { usage: { prompt_tokens: 2, prompt_tokens_details: { cached_tokens: 7 } } },
    { inputTokens: 9, cacheReadTokens: 7 },
  ],
  [
    {
      usage: { input_tokens: 9, input_tokens_details: { cached_tokens: 2, cache_write_tokens: 7 } },
    },
    { inputTokens: 9, cacheReadTokens: 2, cacheWriteTokens: 7 },
  ],
  [{ usage: { prompt_tokens: 9, prompt_cache_hit_tokens: 7 } }, { cacheReadTokens: 7 }],
  [{ usage: { prompt_tokens: 9, num_cached_tokens: 7 } }, { cacheReadTokens: 7 }],
  [
    { usage: { input_tokens: 9, output_tokens: 8, output_tokens_details: { image_tokens: 6 } } },
    { outputTokens: 8, outputImageTokens: 6 },
  ],
  [{ choices: [{}, {}], usage: { completion_tokens: 4 } }, { answers: 2 }],
  [
    {
      usage: { input_tokens: 9 },
      output: [
        { type: 'web_search_call', action: { type: 'search' } },
        { type: 'web_search_call', action: { type: 'open_page' } },
        { type: 'web_search_call' },
        { type: 'message' },
      ],
    },
    { webSearches: 2 },
  ],
])('%j is %j', (answer, usage) => {
  expect(openaiUsage(answer)).toMatchObject(usage);
});

it.each([
  ['gpt-4o-mini', 'uncached'],
  ['gpt-4.1-2025-04-14', 'uncached'],
  ['o4-mini', 'uncached'],
  ['ft:gpt-4o-mini:org::id', 'uncached'],
  ['gpt-5', 'discounted'],
  ['gpt-5.6-luna', 'discounted'],
  ['openai/gpt-oss-120b', 'discounted'],
])('cached input of %s is %s in a batch', (model, expected) => {
  expect(cachedInputOf(model)).toBe(expected);
});
