import { describe, expect, it } from 'vitest';
import { only as form } from './only.ts';

const context = {
  environment: {},
  knownProviders: () => ['openai', 'anthropic', 'groq', 'llama'],
  infoOf: () => undefined,
};

describe('only', () => {
  const call = (provider: string, model: string) => ({ provider, model, endpoint: '', url: '' });
  const batches = (only: string, provider: string, model: string) =>
    form.parse(only, context)(call(provider, model));

  it.each([
    ['openai,anthropic:claude-*', 'openai', 'gpt-5', true],
    ['openai,anthropic:claude-*', 'anthropic', 'claude-opus', true],
    ['openai,anthropic:claude-*', 'anthropic', 'other', false],
    ['openai,anthropic:claude-*', 'groq', 'claude-x', false],
    ['openai:ft:gpt:*', 'openai', 'ft:gpt:me', true],
    ['openai:gpt-4.1', 'openai', 'gpt-4x1', false],
    ['*:*mini*', 'groq', 'gpt-5-mini-2', true],
    ['*:*mini*', 'groq', 'gpt-5', false],
    ['llama', 'llama', 'any', true],
    ['openai:meta/llama(3)', 'openai', 'meta/llama(3)', true],
  ])('%s asked about %s %s: %s', (only, provider, model, expected) => {
    expect(batches(only, provider, model)).toBe(expected);
  });

  it('takes a function as it is', () => {
    const only = () => true;
    expect(form.parse(only, context)).toBe(only);
  });
});
