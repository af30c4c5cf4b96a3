import { describe, expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import type { Dict } from '../../base/types.ts';
import { AnthropicBatcher } from '../../batchers/anthropic/anthropic-batcher.ts';
import type { Batcher } from '../../batchers/batcher.ts';
import { OpenAIBatcher } from '../../batchers/openai/openai-batcher.ts';
import { itemId } from '../model/request.ts';
import { splitHeaders } from './credentials.ts';
import { bytesOf, fingerprintOf } from './fingerprint.ts';

interface Asked {
  readonly batcher?: Batcher;
  readonly base?: string;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Dict;
  readonly configured?: boolean;
}

const openai = new OpenAIBatcher();
const anthropic = new AnthropicBatcher();

/** The fingerprint of a call as it comes in: headers split, matched, hashed. */
function fingerprint(body: string, asked: Asked = {}): string {
  const { batcher = openai, base = 'api.example', path = '/chat/completions' } = asked;
  const { rest, extra } = splitHeaders(
    asked.headers ?? {},
    batcher.info,
    asked.configured ?? false,
  );
  const query = asked.query ?? '';
  const json = JSON.parse(body) as Record<string, unknown>;
  const route = batcher.match({ query, path, headers: rest, body, json, settings: {} });
  if (!('body' in route)) throw new Error('not one request');
  const whole = { ...route, identity: [...route.identity, ...extra] };
  return bytesOf(fingerprintOf(batcher.info.name, base, whole)).toString('hex');
}

const body = '{"model":"m","n":1,"a":2}';

describe('a fingerprint', () => {
  it('is 32 bytes and the same for the same call', () => {
    expect(fingerprint(body)).toMatch(/^[0-9a-f]{64}$/);
    expect(fingerprint(body)).toBe(fingerprint(body));
  });

  it.each<[string, string, Asked]>([
    ['the order of keys', '{"model":"m","a":2,"n":1}', {}],
    ['the model', '{"model":"k","n":1,"a":2}', {}],
    ['the spelling of a number', '{"model":"m","n":1.0,"a":2}', {}],
    ['the endpoint', body, { path: '/responses' }],
    ['the base', body, { base: 'other.example' }],
    ['the provider', body, { batcher: anthropic }],
    ['the query', body, { query: '?a=1' }],
    ['a beta', body, { headers: { 'openai-beta': 'x' } }],
    ['a header of a service of the user', body, { headers: { 'x-mode': '1' }, configured: true }],
  ])('differs with %s', (_what, otherBody, asked) => {
    expect(fingerprint(otherBody, asked)).not.toBe(fingerprint(body));
  });

  it('tells numbers apart that JavaScript does not', () => {
    const [one, other] = ['9007199254740992', '9007199254740993'].map((seed) =>
      fingerprint(`{"model":"m","seed":${seed}}`),
    );
    expect(one).not.toBe(other);
  });

  it('tells versions of Anthropic apart, and does not care about the order of betas', () => {
    const of = (headers: Dict) => fingerprint(body, { batcher: anthropic, headers });
    expect(of({ 'anthropic-version': '2023-06-01' })).toBe(of({}));
    expect(of({ 'anthropic-version': '2026-10-21' })).not.toBe(of({}));
    expect(of({ 'anthropic-beta': 'a,b' })).toBe(of({ 'anthropic-beta': 'b, a' }));
    expect(of({ 'anthropic-beta': 'a' })).not.toBe(of({ 'anthropic-beta': 'b' }));
  });

  it.each([
    ['authorization', 'Bearer sk-other'],
    ['openai-organization', 'org-2'],
    ['openai-project', 'proj-2'],
    ['user-agent', 'me/1'],
    ['idempotency-key', 'stainless-node-retry-1'],
    ['x-stainless-retry-count', '2'],
    ['x-stainless-os', 'Linux'],
    ['traceparent', '00-abc-def-01'],
    ['x-request-id', 'abc'],
    ['x-b3-traceid', 'abc'],
    ['x-datadog-trace-id', '7'],
    ['x-amzn-trace-id', 'Root=1'],
    ['x-cloud-trace-context', 'abc/1'],
    ['accept', 'application/json'],
  ])('does not depend on %s', (name, value) => {
    for (const configured of [false, true]) {
      const headers = { [name]: value };
      expect(fingerprint(body, { headers, configured })).toBe(fingerprint(body));
    }
  });

  it('does not depend on a stream that is not asked for', () => {
    expect(fingerprint('{"model":"m","stream":false}')).toBe(fingerprint('{"model":"m"}'));
  });

  it('cannot be forged by moving text between its parts', () => {
    const of = (endpoint: string, model: string, identity: string[], text: string) =>
      fingerprintOf('p', 'b', { endpoint, model, identity, body: text, batchHeaders: {} });
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (one, two, three) => {
        const first = of(one, two, [three], '{}');
        expect(first === of(one + two, '', [three], '{}')).toBe(two === '');
        expect(first).not.toBe(of(one, two, [three, ''], '{}'));
        expect(first).not.toBe(of(one, two, [], `${three}{}`));
      }),
    );
  });
});

describe('an item id', () => {
  it('is legal at every provider and different per fingerprint and occurrence', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(bytes, fc.nat(), bytes, fc.nat(), (one, first, other, second) => {
        const id = itemId(one, first);
        expect(id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        const same = Buffer.compare(one, other) === 0 && first === second;
        expect(id === itemId(other, second)).toBe(same);
      }),
    );
  });

  it('is read from the bytes of a view, not of all its memory', () => {
    const memory = new Uint8Array(64).fill(1, 32);
    const view = memory.subarray(32);
    expect(itemId(view, 0)).toBe(itemId(new Uint8Array(32).fill(1), 0));
  });
});
