import { describe, expect, it } from 'vitest';
import type { Call, Match } from '../batcher.ts';
import { AzureOpenAIBatcher } from './azure-batcher.ts';
import { azureInfo } from './azure-info.ts';

const batcher = new AzureOpenAIBatcher();
const deployments = { 'gpt-4o': 'gpt-4o-batch', 'my gpt': 'mine', same: 'same' };
const messages = [{ role: 'user', content: 'hello' }];
const inPath = '/deployments/gpt-4o/chat/completions';
const dated = '?api-version=2024-10-21';

function match(json: Record<string, unknown>, given: Partial<Call> = {}): Match {
  const body = JSON.stringify(json);
  const call = { query: '', path: '/chat/completions', headers: {}, body, json };
  return batcher.match({ ...call, settings: { deployments }, ...given });
}

describe('the deployment of a call', () => {
  it('that the body names is replaced by its batch deployment, in its place', () => {
    expect(match({ a: 1, model: 'gpt-4o', messages })).toMatchObject({
      endpoint: '/v1/chat/completions',
      model: 'gpt-4o-batch',
      body: JSON.stringify({ a: 1, model: 'gpt-4o-batch', messages }),
    });
  });

  it('that the path names wins over the body, which need not name one', () => {
    const given = { path: inPath, query: dated };
    const route = { endpoint: '/chat/completions', model: 'gpt-4o-batch', identity: [dated] };
    const body = JSON.stringify({ model: 'gpt-4o-batch', messages });
    expect(match({ model: 'whatever', messages }, given)).toMatchObject({ ...route, body });
    expect(JSON.parse(bodyOf(match({ messages }, given)))).toEqual(JSON.parse(body));
    const spaced = { ...given, path: '/deployments/my%20gpt/chat/completions' };
    expect(match({ messages }, spaced)).toMatchObject({ model: 'mine' });
    const percent = { ...given, path: '/deployments/50%/chat/completions' };
    expect(match({ messages }, percent)).toMatchObject({ model: '50%' });
  });

  it('that is a batch deployment itself leaves the body byte for byte', () => {
    const body = '{ "model" : "same", "n": 1.0 }';
    expect(match(JSON.parse(body), { body })).toMatchObject({ model: 'same', body });
  });

  it.each([
    ['in the body', {}, '/v1/chat/completions'],
    [
      'in the path',
      { path: '/deployments/gpt-5/chat/completions', query: dated },
      '/chat/completions',
    ],
  ])('that has no batch deployment (%s) is asked for, with its name', (_where, given, endpoint) => {
    for (const settings of [{ deployments }, {}]) {
      const found = match({ model: 'gpt-5', messages }, { ...given, settings });
      expect(found).toMatchObject({ endpoint, model: 'gpt-5' });
      const told = 'unconfigured' in found ? found.unconfigured : '';
      expect(told).toContain(`deployments: { "gpt-5": '<batch deployment>' }`);
    }
    const inherited = match({ model: 'constructor', messages });
    expect(inherited).toHaveProperty('unconfigured');
  });
});

it.each([
  ['', '/responses', '/v1/responses'],
  ['?api-version=preview', '/responses', '/v1/responses'],
  ['?api-version=preview', '/chat/completions', '/v1/chat/completions'],
  ['?api-version=2025-04-01-preview', '/responses', '/v1/responses'],
  ['?api-version=2025-04-01-preview', '/chat/completions', '/chat/completions'],
])('a call with "%s" to %s is a line for %s', (query, path, endpoint) => {
  expect(match({ model: 'gpt-4o', input: 'x' }, { query, path })).toMatchObject({ endpoint });
});

it('a streamed call with its deployment in the path is told as a stream', () => {
  const found = match({ messages, stream: true }, { path: inPath, query: dated });
  expect(found).toHaveProperty('stream');
  expect(bodyOf(found)).not.toContain('"stream"');
});

it.each([
  ['without a model', { messages }, 'names no model'],
  ['with data of the user', { model: 'gpt-4o', messages, data_sources: [] }, 'data_sources'],
  ['in the background', { model: 'gpt-5', input: 'x', background: true }, 'background'],
])('a call %s cannot be batched, whatever is configured', (_what, json, why) => {
  expect(match(json)).toMatchObject({ bypass: expect.stringContaining(why) });
});

it.each([
  [{ 'gpt-4o': 'gpt-4o-batch' }, true],
  [{}, true],
  [{ 'gpt-4o': '' }, false],
  [{ 'gpt-4o': 7 }, false],
  [['gpt-4o'], false],
  ['gpt-4o', false],
  [null, false],
])('deployments %j: allowed is %s', (value, isAllowed) => {
  const parsed = azureInfo.settings?.deployments?.parse(value);
  expect(parsed).toEqual(isAllowed ? value : undefined);
});

function bodyOf(found: Match): string {
  return 'body' in found ? found.body : '';
}
