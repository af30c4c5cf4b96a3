import { describe, expect, it } from 'vitest';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { openaiInfo } from '../../batchers/openai/openai-info.ts';
import { locate, routerFor } from './router.test-helper.ts';

describe('a provider whose hosts cannot be listed', () => {
  class Cloud extends OpenAIBatcher {
    override readonly info = {
      ...openaiInfo,
      name: 'cloud',
      hosts: ['*.cloud.example', 'cloud.example'],
      roots: ['/openai', '/openai/v1'],
      endpoints: ['/chat/completions', '/deployments/*/chat/completions'],
    };
  }
  const router = routerFor({}, [Cloud]);

  it.each([
    ['https://mine.cloud.example/openai/v1/chat/completions', '/openai/v1', '/chat/completions'],
    ['https://Mine.cloud.example:443/openai/chat/completions', '/openai', '/chat/completions'],
    ['https://cloud.example/openai/v1/chat/completions', '/openai/v1', '/chat/completions'],
    [
      'https://mine.cloud.example/openai/deployments/a-1/chat/completions?api-version=1',
      '/openai',
      '/deployments/a-1/chat/completions',
    ],
  ])('is found below each of its roots: %s', (url, root, path) => {
    const { host } = new URL(url);
    expect(locate(router, url)).toEqual({
      provider: 'cloud',
      base: host,
      wireBase: `https://${host}${root}`,
      path,
      configured: false,
    });
  });

  it.each([
    'https://a.b.cloud.example/openai/v1/chat/completions',
    'https://.cloud.example/openai/v1/chat/completions',
    'https://mine.cloud.example.evil.example/openai/v1/chat/completions',
    'https://evil.example/mine.cloud.example/openai/v1/chat/completions',
    'https://mine.cloud.example@evil.example/openai/v1/chat/completions',
    'http://mine.cloud.example/openai/v1/chat/completions',
    'https://mine.cloud.example:8443/openai/v1/chat/completions',
    'https://mine.cloud.example/openai/v1/files',
    'https://mine.cloud.example/openai/deployments/a/b/chat/completions',
  ])('is not taken for it: %s', (url) => {
    expect(locate(router, url)).toBeUndefined();
    expect(locate(router, url)).toBeUndefined();
  });

  it('shares a host of the user with the provider that the user has named', () => {
    const shared = routerFor({ 'https://mine.cloud.example/proxy': 'anthropic' }, [Cloud]);
    expect(locate(shared, 'https://mine.cloud.example/proxy/v1/messages')?.provider).toBe(
      'anthropic',
    );
    expect(locate(shared, 'https://mine.cloud.example/openai/chat/completions')?.provider).toBe(
      'cloud',
    );
  });

  it('has all its roots at a host that the user has named without a path', () => {
    const local = routerFor({ '127.0.0.1:8000': 'cloud' }, [Cloud]);
    for (const root of ['/openai', '/openai/v1']) {
      const url = `http://127.0.0.1:8000${root}/chat/completions`;
      expect(locate(local, url)?.wireBase).toBe(`http://127.0.0.1:8000${root}`);
    }
  });
});

describe('a resource of Azure', () => {
  const router = routerFor();
  const hosts = ['openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com'];

  it.each(hosts)('at *.%s has two APIs, and each call stays in its own', (domain) => {
    const origin = `https://mine.${domain}`;
    const dated = '?api-version=2024-10-21';
    for (const [root, path, query] of [
      ['/openai/v1', '/chat/completions', ''],
      ['/openai/v1', '/responses', '?api-version=preview'],
      ['/openai', '/deployments/gpt-4o/chat/completions', dated],
      ['/openai', '/responses', dated],
    ]) {
      expect(locate(router, `${origin}${root}${path}${query}`)).toMatchObject({
        provider: 'azure',
        wireBase: `${origin}${root}${query}`,
        path,
      });
    }
    expect(locate(router, `${origin}/openai/deployments/a/embeddings${dated}`)).toBeUndefined();
  });
});

describe('a query that all batch traffic carries', () => {
  class Dated extends OpenAIBatcher {
    override readonly info = {
      ...openaiInfo,
      name: 'dated',
      hosts: ['dated.example'],
      credentialQuery: ['key'],
      baseQuery: ['api-version', 'key'],
    };
  }
  const router = routerFor({}, [Dated]);

  it.each([
    ['?api-version=2024-10-21', '?api-version=2024-10-21'],
    ['?a=1&api%2Dversion=1&api-version=2', '?api-version=1'],
    ['?api-version=a%26b', '?api-version=a%26b'],
    ['?key=sk-1', ''],
    ['?a=1', ''],
    ['', ''],
  ])('of %s is %j, and credentials are never in it', (query, kept) => {
    const found = router.find(`https://dated.example/v1/chat/completions${query}`);
    expect(found?.wireBase).toBe(`https://dated.example/v1${kept}`);
  });
});

describe('a credential in the query', () => {
  class Keyed extends OpenAIBatcher {
    override readonly info = {
      ...openaiInfo,
      name: 'keyed',
      hosts: ['keyed.example'],
      credentialQuery: ['key'],
    };
  }
  const router = routerFor({}, [Keyed]);
  const at = (query: string) => router.find(`https://keyed.example/v1/chat/completions${query}`);

  it.each([
    ['?key=sk-1', '', { key: 'sk-1' }],
    ['?alt=sse&key=sk%2D1&b=%20', '?alt=sse&b=%20', { key: 'sk-1' }],
    ['?k%65y=sk-1&alt=sse', '?alt=sse', { key: 'sk-1' }],
    ['?alt=sse', '?alt=sse', {}],
    ['?monkey=1', '?monkey=1', {}],
    ['', '', {}],
  ])('%s is taken out, and the rest stays as it was written', (query, rest, credentials) => {
    expect(at(query)).toMatchObject({ query: rest, credentials });
  });

  it('stays where it is at a provider that declares none', () => {
    const found = router.find('https://api.openai.com/v1/chat/completions?key=a');
    expect(found).toMatchObject({ query: '?key=a', credentials: {} });
  });
});
