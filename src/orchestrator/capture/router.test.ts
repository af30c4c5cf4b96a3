import { describe, expect, it } from 'vitest';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { openaiInfo } from '../../batchers/openai/openai-info.ts';
import { locate, routerFor } from './router.test-helper.ts';

describe("a provider's own host", () => {
  const router = routerFor();

  it.each([
    ['https://api.openai.com/v1/chat/completions', 'openai', '/chat/completions'],
    ['https://api.openai.com/v1/responses?a=1#b', 'openai', '/responses'],
    ['https://api.anthropic.com/v1/messages', 'anthropic', '/messages'],
    ['https://API.OpenAI.com/v1/embeddings', 'openai', '/embeddings'],
    ['HTTPS://api.openai.com:443/v1/embeddings', 'openai', '/embeddings'],
    ['https://user:word@api.openai.com/v1/embeddings', 'openai', '/embeddings'],
  ])('is found: %s', (url, provider, path) => {
    const host = provider === 'openai' ? 'api.openai.com' : 'api.anthropic.com';
    expect(locate(router, url)).toEqual({
      provider,
      base: host,
      wireBase: `https://${host}/v1`,
      path,
      configured: false,
    });
  });

  it.each([
    ['plain http', 'http://api.openai.com/v1/chat/completions'],
    ['another port', 'https://api.openai.com:8443/v1/chat/completions'],
    ['another root', 'https://api.openai.com/v2/chat/completions'],
    ['a longer root', 'https://api.openai.com/v1x/chat/completions'],
    ['no root', 'https://api.openai.com/chat/completions'],
    ['a longer host', 'https://api.openai.com.example/v1/chat/completions'],
    ['a shorter host', 'https://openai.com/v1/chat/completions'],
    ['the host as a user', 'https://api.openai.com@example.com/v1/chat/completions'],
    ['the host in the query', 'https://example.com/?https://api.openai.com/v1/chat/completions'],
    ['the other provider', 'https://api.anthropic.com/v1/chat/completions'],
    ['no URL', '/v1/chat/completions'],
  ])('is not taken for it: %s', (_what, url) => {
    expect(locate(router, url)).toBeUndefined();
  });

  it('is remembered, and so is what it is not', () => {
    const url = 'https://api.openai.com/v1/chat/completions';
    expect(router.find(url)).toBe(router.find(url));
    expect(router.find('https://api.openai.com/v1/files')).toBeUndefined();
    expect(router.find('https://api.openai.com/v1/files')).toBeUndefined();
  });
});

describe('a host of the user', () => {
  const local = 'http://127.0.0.1:8000';

  it.each([
    ['http://127.0.0.1:8000/v1', `${local}/v1/chat/completions`, `${local}/v1`],
    ['http://127.0.0.1:8000/v1', `${local}/chat/completions`, local],
    ['http://127.0.0.1:8000/v1/', `${local}/v1/chat/completions`, `${local}/v1`],
    ['127.0.0.1:8000/v1', `${local}/v1/chat/completions`, `${local}/v1`],
    [
      '127.0.0.1:8000/v1',
      'https://127.0.0.1:8000/v1/chat/completions',
      'https://127.0.0.1:8000/v1',
    ],
    ['127.0.0.1:8000', `${local}/v1/chat/completions`, `${local}/v1`],
    ['http://127.0.0.1:8000', `${local}/v1/chat/completions`, `${local}/v1`],
    ['http://127.0.0.1:8000/', `${local}/v1/chat/completions`, `${local}/v1`],
    [
      'Proxy.Example/llm',
      'https://proxy.example/llm/chat/completions',
      'https://proxy.example/llm',
    ],
    [
      'proxy.example/llm',
      'https://PROXY.example/llm/v1/chat/completions',
      'https://proxy.example/llm/v1',
    ],
    [
      'proxy.example/llm/v1',
      'https://proxy.example/llm/chat/completions',
      'https://proxy.example/llm',
    ],
    ['[::1]:8000/v1', 'http://[::1]:8000/v1/chat/completions', 'http://[::1]:8000/v1'],
  ])('named %s takes %s', (key, url, wireBase) => {
    expect(locate(routerFor({ [key]: 'openai' }), url)).toEqual({
      provider: 'openai',
      base: key,
      wireBase,
      path: '/chat/completions',
      configured: true,
    });
  });

  it.each([
    ['https://127.0.0.1:8000/v1', `${local}/v1/chat/completions`],
    ['http://127.0.0.1:8000/v1', 'https://127.0.0.1:8000/v1/chat/completions'],
    ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8001/v1/chat/completions'],
    ['http://127.0.0.1:8000/v1', `${local}/v2/chat/completions`],
    ['http://127.0.0.1:8000', `${local}/chat/completions`],
    ['proxy.example/llm', 'https://proxy.example/llm2/chat/completions'],
    ['proxy.example/llm', 'https://proxy.example/chat/completions'],
  ])('named %s does not take %s', (key, url) => {
    expect(locate(routerFor({ [key]: 'openai' }), url)).toBeUndefined();
  });

  it('does not hide the own host of the provider', () => {
    const router = routerFor({ '127.0.0.1:8000': 'openai' });
    expect(locate(router, 'https://api.openai.com/v1/responses')?.configured).toBe(false);
  });

  it('with the longest path wins', () => {
    const router = routerFor({
      'proxy.example/a': 'openai',
      'proxy.example/a/b': 'anthropic',
      'proxy.example/a/b/c': 'openai',
    });
    const at = (path: string) => locate(router, `https://proxy.example${path}`);
    expect(at('/a/v1/chat/completions')?.base).toBe('proxy.example/a');
    expect(at('/a/b/v1/messages')?.base).toBe('proxy.example/a/b');
    expect(at('/a/b/c/chat/completions')?.base).toBe('proxy.example/a/b/c');
  });

  it('can speak for two providers, each with the base its SDK is given', () => {
    const router = routerFor({ [`${local}/v1`]: 'openai', [local]: 'anthropic' });
    expect(locate(router, `${local}/v1/messages`)).toMatchObject({ provider: 'anthropic' });
    expect(locate(router, `${local}/v1/chat/completions`)).toMatchObject({
      provider: 'openai',
      wireBase: `${local}/v1`,
    });
  });

  it("beats the provider's own place at the same host", () => {
    const router = routerFor({ 'https://api.openai.com/v1': 'openai' });
    const found = locate(router, 'https://api.openai.com/v1/chat/completions');
    expect(found).toMatchObject({ base: 'https://api.openai.com/v1', configured: true });
  });

  it('of a provider nobody knows is refused by the options', () => {
    expect(() => routerFor({ 'proxy.example': 'nobody' })).toThrow(/nobody/);
  });
});

describe("a user's own batcher", () => {
  class Special extends OpenAIBatcher {
    override readonly info = {
      ...openaiInfo,
      name: 'special',
      endpoints: ['/chat/completions'],
    };
  }

  it('is asked before the built-in one of the same host', () => {
    const router = routerFor({}, [Special]);
    const found = locate(router, 'https://api.openai.com/v1/chat/completions');
    expect(found?.provider).toBe('special');
  });

  it('leaves to the built-in one what it does not handle', () => {
    const router = routerFor({}, [Special]);
    const found = locate(router, 'https://api.openai.com/v1/embeddings');
    expect(found?.provider).toBe('openai');
  });
});
