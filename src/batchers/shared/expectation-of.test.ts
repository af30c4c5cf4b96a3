import { expect, it } from 'vitest';
import { expectationOf } from './expectation-of.ts';

it.each([
  [{ max_tokens: 5 }, { outputLimit: 5, answers: 1 }],
  [
    { max_completion_tokens: 5, n: 3 },
    { outputLimit: 15, answers: 3 },
  ],
  [{ max_output_tokens: 5 }, { outputLimit: 5, answers: 1 }],
  [{ n: 100 }, { outputLimit: undefined, answers: 100 }],
  [
    { generationConfig: { maxOutputTokens: 5, candidateCount: 2 } },
    { outputLimit: 10, answers: 2 },
  ],
  [
    { generation_config: { max_output_tokens: 5, candidate_count: 2 } },
    { outputLimit: 10, answers: 2 },
  ],
  [{ generationConfig: { candidateCount: 4 } }, { outputLimit: undefined, answers: 4 }],
  [
    { n: null, max_tokens: null, generationConfig: null },
    { outputLimit: undefined, answers: 1 },
  ],
])('%j expects %j', (json, expected) => {
  expect(expectationOf('/v1/chat/completions', json)).toEqual(expected);
});

it('embeddings have no output', () => {
  expect(expectationOf('embedContent', { n: 3 })).toEqual({ outputLimit: 0, answers: 1 });
});
