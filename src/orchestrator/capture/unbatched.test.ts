import { describe, expect, it } from 'vitest';
import { wireEndings, wireOf } from '../../batchers/llm-wires.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { openaiInfo } from '../../batchers/openai/openai-info.ts';
import { type BatcherClass, registeredBatchers } from '../../batchers/registry.ts';
import { resolveOptions } from '../../options/index.ts';
import { Router } from './router.ts';
import { UnbatchedFinder } from './unbatched.ts';

function finderFor(
  hosts: Record<string, string> = {},
  own: readonly BatcherClass[] = [],
): { router: Router; finder: UnbatchedFinder } {
  const batchers = registeredBatchers(own);
  const router = new Router(batchers, resolveOptions({ hosts }, undefined, {}).hosts);
  return { router, finder: new UnbatchedFinder(router, batchers) };
}

const { finder } = finderFor();
const text = (json: object) => JSON.stringify(json);
const bodies: Record<string, string> = {
  google: text({ contents: [] }),
  openai: text({ model: 'm', input: 'x', prompt: 'x' }),
  anthropic: text({ model: 'm', max_tokens: 1, messages: [] }),
};

describe('a call to a host that nobody named', () => {
  it.each([
    ['http://127.0.0.1:8000/v1/chat/completions', 'http://127.0.0.1:8000/v1', 'openai'],
    ['http://127.0.0.1:8000/chat/completions', 'http://127.0.0.1:8000/v1', 'openai'],
    ['http://[::1]:8000/v1/chat/completions?a=/b', 'http://[::1]:8000/v1', 'openai'],
    ['https://proxy.example/llm/chat/completions#x', 'https://proxy.example/llm', 'openai'],
    ['https://proxy.example/llm/v1/completions', 'https://proxy.example/llm/v1', 'openai'],
    ['https://user:word@proxy.example/v1/embeddings', 'https://proxy.example/v1', 'openai'],
    ['https://proxy.example/a/b/v1/responses', 'https://proxy.example/a/b/v1', 'openai'],
    ['https://proxy.example/v1/messages', 'https://proxy.example', 'anthropic'],
    ['https://proxy.example/messages', 'https://proxy.example/v1', 'anthropic'],
    ['https://proxy.example/claude/v1/messages', 'https://proxy.example/claude', 'anthropic'],
    ['https://proxy.example/claude/messages', 'https://proxy.example/claude', 'anthropic'],
    ['https://proxy.example/v1beta/models/g:generateContent', 'https://proxy.example', 'google'],
    ['https://a.example/g/v1beta/models/g:embedContent', 'https://a.example/g', 'google'],
    [
      'https://a.example/x/v1/projects/p/locations/us/publishers/anthropic/models/c:rawPredict',
      'https://a.example/x',
      'vertex',
    ],
    [
      'https://a.example/v1beta1/projects/p/locations/us/publishers/google/models/g:generateContent',
      'https://a.example',
      'vertex',
    ],
    ['http://127.0.0.1:4566/model/us.nova%3A0/converse', 'http://127.0.0.1:4566', 'bedrock'],
    ['https://a.example/x/model/m/invoke-with-response-stream', 'https://a.example/x', 'bedrock'],
  ])('%s is captured by the entry it is told with', (url, base, provider) => {
    const found = finder.find(url);
    expect(found?.isProvedBy({}, bodies[provider])).toBe(true);
    expect(found?.cure).toContain(`hosts: { '${base}': '${provider}' }`);
    const cured = finderFor({ [base]: provider });
    expect(cured.router.find(url)).toMatchObject({ provider, base, configured: true });
  });

  it.each([
    ['Vertex AI', 'https://h.example/v1/projects/p/publishers/anthropic/models/c:rawPredict'],
    ['Cohere', 'https://api.cohere.com/v2/chat'],
    [
      'the endpoint /v1/p/models/g:generateContent of vertex',
      'https://europe-west1-aiplatform.googleapis.com/v1/p/models/g:generateContent',
    ],
    ['deepseek', 'https://api.deepseek.com/v1/chat/completions'],
    ['cerebras', 'https://api.cerebras.ai/v1/chat/completions'],
  ])('that speaks for %s has no entry that would help', (name, url) => {
    const found = finder.find(url);
    expect(found?.isCertain).toBe(true);
    expect(found?.reason).toContain(`no batches for ${name}`);
    expect(found?.cure).not.toContain('hosts');
  });

  it.each([
    ['https://api.cohere.com/v2/chat', 'Avro files'],
    ['https://ark.cn-beijing.volces.com/api/v3/batch/chat/completions', 'stays open for hours'],
    ['https://ark.ap-southeast.bytepluses.com/api/v3/batch/chat/completions', 'without an id'],
    [
      'https://batch.dashscope.aliyuncs.com/compatible-mode/v1/chat/completions',
      'a batch by itself',
    ],
    ['https://bedrock-mantle.us-east-1.api.aws/v1/responses', 'AWS has no batches at this address'],
    [
      'https://bedrock-mantle.eu-west-1.api.aws/anthropic/v1/messages',
      'AWS has no batches at this address',
    ],
  ])('%s is told why it is not batched', (url, why) => {
    const found = finder.find(url);
    expect(found?.reason).toContain(why);
    expect(found?.cure).not.toContain('hosts');
  });

  it('is looked at once for each URL, and proved once', () => {
    const url = 'https://other.example/v1/messages';
    const found = finder.find(url);
    expect(finder.find(url)).toBe(found);
    expect([found?.isCertain, found?.isProvedBy({}, undefined)]).toEqual([false, false]);
    expect(found?.isProvedBy({}, bodies.anthropic)).toBe(true);
    expect([found?.isCertain, found?.isProvedBy({}, undefined)]).toEqual([false, true]);
  });
});

describe('a path that is a common word', () => {
  const at = (path: string) => finder.find(`https://service.example${path}`);

  it.each([
    ['/v1/messages', {}, text({ text: 'hello' })],
    ['/v1/messages', {}, text({ model: 'T', messages: ['hello'] })],
    ['/v1/messages', { 'anthropic-version': '1' }, text({ text: 'hello' })],
    ['/v1/messages', { 'anthropic-version': '1' }, 'no json'],
    ['/v1/messages', {}, undefined],
    ['/v1/responses', {}, text({ answers: [] })],
    ['/v1/responses', {}, text({ input: 'x', car: { model: 'T' } })],
    ['/v1/embeddings', {}, 'null'],
    ['/v1/completions', {}, text({ model: 'm' })],
  ])('%s %j %s is no proof', (path, headers, body) => {
    const found = at(path);
    expect([found?.isCertain, found?.isProvedBy(headers, body)]).toEqual([false, false]);
  });

  it.each([
    ['/a/messages', { 'anthropic-version': '1' }, text({ model: 'm', messages: [] })],
    ['/a/v1/responses', {}, text({ model: 'm', input: [] })],
    ['/embeddings', {}, text({ model: 'm', input: 'x' })],
    ['/a/openai/responses', {}, text({ model: 'm', input: [] })],
    ['/openai/deployments/d/completions', {}, text({ model: 'm', prompt: 'x' })],
    ['/v1beta/completions', {}, text({ model: 'm', prompt: 'x' })],
    ['/v1/responses', {}, text({ model: 'm', input: 'x'.repeat(20_000) }).slice(0, 16_384)],
  ])('%s %j %s is', (path, headers, body) => {
    expect(at(path)?.isProvedBy(headers, body)).toBe(true);
  });

  it.each([
    '/survey/responses',
    '/v1/forms/responses',
    '/search/completions',
    '/v1/items',
    '/v1/chat',
    '/v1/models/m:predict',
    '/completions/',
    '',
    '/',
  ])('%j is not looked at', (path) => {
    expect(at(path)).toBeUndefined();
  });

  it('of no URL at all is left to fetch', () => {
    expect(finder.find('/v1/chat/completions')).toBeUndefined();
  });
});

describe('endpoints of a known provider', () => {
  it.each(
    registeredBatchers().flatMap(({ info: { hosts, roots, unbatched = [] } }) =>
      unbatched.map((path) => `https://${hosts[0]}${roots[0]}${path}`),
    ),
  )('%s is known to be unbatched', (url) => {
    expect(finder.find(url)).toMatchObject({
      isCertain: true,
      cure: expect.not.stringContaining('hosts'),
    });
  });

  it.each([
    'https://api.openai.com/v1/files',
    'https://api.openai.com/v1/batches',
    'https://api.openai.com/v1/responses/input_tokens',
    'https://api.openai.com/v1/chat/completions/chatcmpl_1',
    'https://api.anthropic.com/v1/messages/count_tokens',
    'https://api.anthropic.com/v1/messages/batches',
  ])('%s generates nothing', (url) => {
    expect(finder.find(url)).toBeUndefined();
  });

  it('are those of a host that the user has named, too', () => {
    const named = finderFor({ 'http://127.0.0.1:8000/v1': 'openai' }).finder;
    const found = named.find('http://127.0.0.1:8000/v1/images/variations');
    expect(found?.reason).toContain('/images/variations of openai');
  });
});

describe('the facts of providers', () => {
  it('no endpoint is both batched and unbatched', () => {
    for (const { handles, info } of registeredBatchers()) {
      expect((info.unbatched ?? []).filter(handles)).toEqual([]);
    }
  });

  it('a provider that has a batcher is not said to have none', () => {
    class CerebrasBatcher extends OpenAIBatcher {
      override readonly info = { ...openaiInfo, name: 'cerebras', hosts: ['api.cerebras.ai'] };
    }
    const url = 'https://api.cerebras.ai/v1/responses';
    expect(finder.find(url)?.reason).toContain('has no batches for cerebras');
    const { finder: withOwn } = finderFor({}, [CerebrasBatcher]);
    expect(withOwn.find(url)?.reason).toContain('the endpoint /v1/responses of cerebras');
  });

  it('every ending belongs to a path', () => {
    const known = [
      'https://bedrock-runtime.x/model/m/',
      'https://api.cohere.com/v2/',
      'https://h/publishers/p/models/m:',
      'https://h/chat/',
    ];
    for (const ending of wireEndings) {
      const wires = known.map((start) => wireOf(new URL(`${start}${ending}`)));
      expect(wires.some(Boolean), ending).toBe(true);
    }
  });
});
