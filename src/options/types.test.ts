import { describe, expect, it } from 'vitest';
import type { BatchifyOptions, Duration, OwnProviders, ProviderName } from '../index.ts';
import { resolveOptions } from './index.ts';

/*
 * What the compiler says is checked with the rest (`tsc`): a line under `@ts-expect-error` that compiles is an
 * error. The tests make sure that the parsers say the same.
 */
declare module 'batchling' {
  interface OwnProviders {
    house: { region?: 'eu' | 'us' };
  }
}

const accepted: Record<string, BatchifyOptions> = {
  'a number': { window: 250 },
  milliseconds: { window: '250ms' },
  'a fraction': { window: '1.5s' },
  'a space before the unit': { window: '5 s' },
  'two units': { deadline: '1m 30s', completionWindow: '1h30m' },
  'bare digits': { window: '250' },
  days: { retention: '30d' },
  'a range': { poll: '10s..60s' },
  'a range of mixed units': { poll: '500ms..1m' },
  'one interval': { poll: '30s' },
  'a moment': { deadline: new Date() },
  'a built-in provider': { hosts: { 'http://127.0.0.1:8000/v1': 'openai' } },
  'a provider': { only: 'openai' },
  'a model': { only: 'anthropic:claude-*' },
  'several, and any': { only: 'openai, anthropic:claude-*, *:gpt-*' },
  'any provider': { only: '*:gpt-*' },
  'a function': { only: ({ provider }) => provider === 'groq' },
  'a setting of the provider': { providers: { vertex: { bucket: 'gs://mine' } } },
  'a common setting': { providers: { openai: { priceShare: 0.4, limits: { requests: 5 } } } },
};

const refused: Record<string, BatchifyOptions> = {
  // @ts-expect-error: no such unit
  'a unit': { window: '5 parsecs' },
  // @ts-expect-error: no range
  'a range': { poll: '10s to 60s' },
  // @ts-expect-error: no number
  'a word': { deadline: 'tomorrow' },
  // @ts-expect-error: misspelt
  'a host': { hosts: { 'http://127.0.0.1:8000/v1': 'opneai' } },
  // @ts-expect-error: misspelt
  'a provider': { only: 'opneai' },
  // @ts-expect-error: misspelt
  'a provider with a model': { only: 'antropic:claude-*' },
  // @ts-expect-error: misspelt
  'settings of a provider': { providers: { verte: {} } },
  // @ts-expect-error: misspelt
  'a setting': { providers: { vertex: { buket: 'gs://mine' } } },
  // @ts-expect-error: a setting of another provider
  'a setting of another': { providers: { openai: { bucket: 'gs://mine' } } },
  // @ts-expect-error: no function
  'the type of a setting': { providers: { openai: { credential: 'sk-test' } } },
};

describe('options that the compiler', () => {
  it.each(Object.entries(accepted))('accepts are accepted: %s', (_, given) => {
    expect(() => resolveOptions(given, undefined, {})).not.toThrow();
  });

  it.each(Object.entries(refused))('refuses are refused: %s', (_, given) => {
    expect(() => resolveOptions(given, undefined, {})).toThrow(/Invalid option/);
  });

  it('knows: durations, and the providers of own batchers once they are declared', () => {
    const text: string = '5s';
    // @ts-expect-error: any text
    const any: Duration = text;
    const own: ProviderName = 'house';
    const settings: OwnProviders['house'] = { region: 'eu' };
    const options: BatchifyOptions = {
      hosts: { 'house.example': own },
      providers: { house: { ...settings, priceShare: 1 } },
    };
    // @ts-expect-error: not what its declaration says
    const wrong: BatchifyOptions = { providers: { house: { region: 'mars' } } };
    expect([any, options, wrong]).toHaveLength(3);
  });
});
