import { expect, it } from 'vitest';
import { usageOf } from './google-usage.ts';

it.each([
  [
    { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, thoughtsTokenCount: 9 } },
    { inputTokens: 5, outputTokens: 11 },
  ],
  [
    { usageMetadata: { promptTokenCount: 5, toolUsePromptTokenCount: 4 } },
    { inputTokens: 9, outputTokens: 0 },
  ],
  [
    { usageMetadata: { promptTokenCount: 900, cachedContentTokenCount: 800 } },
    { inputTokens: 900, cacheReadTokens: 800 },
  ],
  // A cached part that is larger than the whole is no part of it.
  [
    { usageMetadata: { promptTokenCount: 100, cachedContentTokenCount: 800 } },
    { inputTokens: 900, cacheReadTokens: 800 },
  ],
  [
    { candidates: [{}, {}, {}], usageMetadata: { candidatesTokenCount: 6 } },
    { outputTokens: 6, answers: 3 },
  ],
  [
    { embedding: { values: [] }, tokenCount: '7' },
    { inputTokens: 7, outputTokens: 0 },
  ],
])('%j has used %j', (answer, usage) => {
  expect(usageOf(answer)).toMatchObject(usage);
});

it.each([{ embedding: { values: [] } }, null])('%j does not say what it has used', (answer) => {
  expect(usageOf(answer)).toBeUndefined();
});
