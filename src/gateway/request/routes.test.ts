import { describe, expect, it } from 'vitest';
import { resolveOptions } from '../../options/index.ts';
import { cleanPath } from './clean-path.ts';
import { Routes } from './routes.ts';

function urlOf(target: string, hosts: Record<string, string> = {}): string {
  return new Routes(resolveOptions({ hosts }, undefined, {})).find(cleanPath(target)).url;
}

describe('a path leads to its provider', () => {
  it.each([
    ['/openai/v1/chat/completions', 'https://api.openai.com/v1/chat/completions'],
    ['/anthropic/v1/messages', 'https://api.anthropic.com/v1/messages'],
    ['/groq/openai/v1/chat/completions', 'https://api.groq.com/openai/v1/chat/completions'],
    [
      '/google/v1beta/models/gemini:streamGenerateContent?alt=sse',
      'https://generativelanguage.googleapis.com/v1beta/models/gemini:streamGenerateContent?alt=sse',
    ],
  ])('%s', (target, url) => expect(urlOf(target)).toBe(url));

  it.each([
    ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000/v1/chat/completions'],
    ['http://127.0.0.1:8000/openai/v1', 'http://127.0.0.1:8000/openai/v1/chat/completions'],
    ['llm.example.com/openai', 'https://llm.example.com/openai/v1/chat/completions'],
    ['127.0.0.1:8000', 'http://127.0.0.1:8000/v1/chat/completions'],
    ['llm.example.com', 'https://llm.example.com/v1/chat/completions'],
  ])('below the configured base %s', (base, url) => {
    expect(urlOf('/openai/v1/chat/completions', { [base]: 'openai' })).toBe(url);
  });

  it('below a base without a version, as the SDK writes it', () => {
    const hosts = { 'http://127.0.0.1:9/anthropic': 'anthropic', 'http://127.0.0.1:9/g': 'google' };
    expect(urlOf('/anthropic/v1/messages', hosts)).toBe('http://127.0.0.1:9/anthropic/v1/messages');
    expect(urlOf('/google/v1/models', hosts)).toBe('http://127.0.0.1:9/g/v1/models');
  });

  it('and to none where two bases are configured: a key could go to the wrong one', () => {
    const hosts = { 'http://127.0.0.1:8000/v1': 'openai', 'http://127.0.0.1:8001/v1': 'openai' };
    expect(() => urlOf('/openai/v1/models', hosts)).toThrow('two bases for openai');
  });
});

describe('a path leads nowhere', () => {
  it.each([
    '/nobody/v1/models',
    '/azure/openai/v1/chat/completions',
    '/',
    '/openai.evil.example/v1',
    '/__proto__/v1',
  ])('without a provider that has a host: %s', (target) => {
    expect(() => urlOf(target)).toThrow(/No provider is named/);
  });

  it.each([
    'http://evil.example/openai/v1',
    '//evil.example/v1',
    '/openai//evil.example',
    '/openai/./v1',
    '/openai/../v1',
    '/openai/%2e%2e/v1',
    '/openai/.%2E/v1',
    '/openai/v1%2Fmodels',
    '/openai/v1%5cmodels',
    '/openai/v1\\models',
    '/openai/v1/%zz',
    '/openai/v1/models#a',
    '/openai/v1/mod\tels',
    '/openai/v1/models?a=b#c',
    '*',
    '',
  ])('that could be read as another one: %s', (target) => {
    expect(() => urlOf(target)).toThrow(/The (path|query)/);
  });
});

it('names the bases as the SDKs of the providers take them', () => {
  const { bases } = new Routes(resolveOptions({}, undefined, {}));
  const paths = new Map(bases.map(({ provider, path }) => [provider, path]));
  expect(paths.get('openai')).toBe('/openai/v1');
  expect(paths.get('anthropic')).toBe('/anthropic');
  expect(paths.get('google')).toBe('/google');
  expect(paths.get('vertex')).toBe('/vertex');
  expect(paths.get('groq')).toBe('/groq/openai/v1');
});
