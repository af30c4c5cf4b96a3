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
    { embedding: { values: [] }, tokenCount: '7' },
    { inputTokens: 7, outputTokens: 0 },
  ],
  [{ embedding: { values: [] } }, undefined],
  [null, undefined],
])('%j has used %j', (answer, usage) => {
  expect(usageOf(answer)).toEqual(usage);
});
