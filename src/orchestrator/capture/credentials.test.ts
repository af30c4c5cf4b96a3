import { describe, expect, it } from 'vitest';
import type { Dict } from '../../base/types.ts';
import { anthropicInfo } from '../../batchers/anthropic/anthropic-info.ts';
import { azureInfo } from '../../batchers/azure/azure-info.ts';
import { openaiInfo } from '../../batchers/openai/openai-info.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { accountHash, credentialHint, splitHeaders, withToken } from './credentials.ts';

const salt = Buffer.alloc(32, 7);

function hash(headers: Dict, info: ProviderInfo = openaiInfo, key: Uint8Array = salt): string {
  return accountHash(key, splitHeaders(headers, info, false), info).toString('hex');
}

function token(payload: object, signature = 'signature'): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(payload)}.${signature}`;
}

describe('an account', () => {
  it('is one key, whatever header carries it', () => {
    const [bearer, lower, plain] = [
      { authorization: 'Bearer sk-1' },
      { authorization: 'bearer  sk-1 ' },
      { 'x-api-key': 'sk-1' },
    ].map((headers) => hash(headers, anthropicInfo));
    expect(bearer).toBe(plain);
    expect(lower).toBe(plain);
    const both = { 'x-api-key': 'sk-1', authorization: 'Bearer sk-1' };
    expect(hash(both, anthropicInfo)).toBe(plain);
  });

  it('differs by key, by provider and by salt', () => {
    const one = hash({ authorization: 'Bearer sk-1' });
    expect(hash({ authorization: 'Bearer sk-2' })).not.toBe(one);
    expect(hash({ authorization: 'Bearer sk-1' }, anthropicInfo)).not.toBe(one);
    const other = hash({ authorization: 'Bearer sk-1' }, openaiInfo, Buffer.alloc(32, 8));
    expect(other).not.toBe(one);
  });

  it('stays the same when its token is renewed', () => {
    const renewed = [1, 2].map((expiry) =>
      hash({
        authorization: `Bearer ${token({ iss: 'https://i', sub: 'me', exp: expiry }, `s${expiry}`)}`,
      }),
    );
    expect(renewed[0]).toBe(renewed[1]);
  });

  it('differs by the issuer and the subject of its token', () => {
    const of = (payload: object) => hash({ authorization: `Bearer ${token(payload)}` });
    const one = of({ iss: 'https://i', sub: 'me' });
    expect(of({ iss: 'https://i', sub: 'you' })).not.toBe(one);
    expect(of({ iss: 'https://j', sub: 'me' })).not.toBe(one);
  });

  it('is the key itself where a token names nobody', () => {
    const of = (key: string) => hash({ authorization: `Bearer ${key}` });
    expect(of(token({ exp: 1 }))).not.toBe(of(token({ exp: 2 })));
    expect(of('sk.with.dots')).not.toBe(of('sk.with.others'));
  });

  it.each([
    ['openai-organization', openaiInfo],
    ['openai-project', openaiInfo],
    ['anthropic-workspace-id', anthropicInfo],
    ['anthropic-user-profile-id', anthropicInfo],
  ])('differs by %s', (name, info) => {
    const of = (headers: Dict) => hash({ authorization: 'Bearer sk-1', ...headers }, info);
    expect(of({ [name]: 'a' })).not.toBe(of({}));
    expect(of({ [name]: 'a' })).not.toBe(of({ [name]: 'b' }));
    expect(of({ [name]: 'a', accept: 'x' })).toBe(of({ [name]: 'a', accept: 'y' }));
  });

  it('does not depend on the order of headers', () => {
    const [one, other] = [
      { 'openai-project': 'p', 'openai-organization': 'o', authorization: 'Bearer sk-1' },
      { authorization: 'Bearer sk-1', 'openai-organization': 'o', 'openai-project': 'p' },
    ].map((headers) => hash(headers));
    expect(one).toBe(other);
  });
});

describe('the headers of a call', () => {
  const headers = {
    authorization: 'Bearer sk-1',
    'openai-organization': 'org-1',
    'openai-beta': 'b',
    'x-tenant': 't',
    'x-stainless-os': 'Linux',
    'x-request-id': 'r',
    'x-goog-api-client': 'google-genai-sdk/2',
    'content-type': 'application/json',
  };

  it('are taken apart: what is secret, and what a batcher may see', () => {
    const split = splitHeaders(headers, openaiInfo, false);
    expect(split.secrets).toEqual({
      authorization: 'Bearer sk-1',
      'openai-organization': 'org-1',
    });
    expect(split.rest).toEqual({
      'openai-beta': 'b',
      'x-tenant': 't',
      'x-stainless-os': 'Linux',
      'x-request-id': 'r',
      'x-goog-api-client': 'google-genai-sdk/2',
      'content-type': 'application/json',
    });
    expect(split.extra).toEqual([]);
  });

  it('of a service of the user go along, save those that differ from call to call', () => {
    const split = splitHeaders({ ...headers, 'x-a': '1' }, openaiInfo, true);
    expect(split.secrets).toMatchObject({ 'x-tenant': 't', 'x-a': '1' });
    expect(split.secrets).not.toHaveProperty('x-request-id');
    expect(split.secrets).not.toHaveProperty('x-stainless-os');
    expect(split.extra).toEqual(['x-a: 1', 'x-tenant: t']);
  });

  it('of the wire of a provider are what its batcher may see, at a service of the user, too', () => {
    const headers = { 'x-ms-service-tier': 'priority' };
    const split = splitHeaders(headers, azureInfo, true);
    expect(split).toMatchObject({ secrets: {}, rest: headers, extra: [] });
  });

  it('of a service of the user are credentials by their names, or by who asks', () => {
    const named = { 'api-key': '1', cookie: '2', 'x-forwarded-user': '3', 'x-session-token': '4' };
    const others = {
      'idempotency-key': '5',
      'x-idempotency-key': '6',
      'x-forwarded-for': '7',
      'user-agent': '8',
    };
    const split = splitHeaders({ ...named, ...others }, openaiInfo, true);
    expect(split.secrets).toEqual(named);
    expect(split.rest).toEqual(others);
    expect(split.extra).toEqual([]);
    expect(splitHeaders({ ...named }, openaiInfo, false).secrets).toEqual({});
  });

  it('never put a credential into the identity of a call', () => {
    const split = splitHeaders({ 'x-api-key': 'sk-1' }, anthropicInfo, true);
    expect(split.extra).toEqual([]);
    expect(split.secrets).toEqual({ 'x-api-key': 'sk-1' });
  });

  it('give one key for the same secrets and another for others', () => {
    const key = (changed: Dict) => splitHeaders({ ...headers, ...changed }, openaiInfo, false).key;
    expect(key({ 'openai-beta': 'c', 'x-request-id': 's' })).toBe(key({}));
    expect(key({ authorization: 'Bearer sk-2' })).not.toBe(key({}));
    expect(key({ 'openai-organization': 'org-2' })).not.toBe(key({}));
  });
});

describe('the hint to a credential', () => {
  it('is the name of the variable that holds it', () => {
    const split = { secrets: { authorization: 'Bearer sk-1' }, query: {} };
    expect(credentialHint(split, openaiInfo, { OPENAI_API_KEY: 'sk-1' })).toBe(
      'env:OPENAI_API_KEY',
    );
    const environment = { ANTHROPIC_API_KEY: 'other', ANTHROPIC_AUTH_TOKEN: 'sk-1' };
    expect(credentialHint(split, anthropicInfo, environment)).toBe('env:ANTHROPIC_AUTH_TOKEN');
    expect(
      credentialHint({ secrets: { 'x-api-key': 'sk-1' }, query: {} }, anthropicInfo, environment),
    ).toBe('env:ANTHROPIC_AUTH_TOKEN');
  });

  it('is missing where no variable holds it', () => {
    const split = { secrets: { authorization: 'Bearer sk-1' }, query: {} };
    for (const environment of [{}, { OPENAI_API_KEY: 'sk-2' }, { OTHER: 'sk-1' }]) {
      expect(credentialHint(split, openaiInfo, environment)).toBeUndefined();
    }
    expect(
      credentialHint({ secrets: {}, query: {} }, openaiInfo, { OPENAI_API_KEY: '' }),
    ).toBeUndefined();
    expect(
      credentialHint({ secrets: { authorization: '' }, query: {} }, openaiInfo, {
        OPENAI_API_KEY: '',
      }),
    ).toBe(undefined);
  });
});

describe('a credential in the query', () => {
  const info: ProviderInfo = { ...anthropicInfo, credentialQuery: ['key'] };
  const split = (query: Dict) => splitHeaders({}, info, false, { query, credential: undefined });

  it('makes the same account as one in a header', () => {
    const inQuery = accountHash(salt, split({ key: 'sk-1' }), info).toString('hex');
    expect(inQuery).toBe(hash({ 'x-api-key': 'sk-1' }, info));
    expect(inQuery).not.toBe(accountHash(salt, split({ key: 'sk-2' }), info).toString('hex'));
  });

  it('keeps calls of two keys apart, although their headers are the same object', () => {
    const headers = { accept: '*/*' };
    const keys = ['sk-1', 'sk-2'].map(
      (key) => splitHeaders(headers, info, false, { query: { key }, credential: undefined }).key,
    );
    expect(new Set(keys).size).toBe(2);
  });

  it('is found in the environment', () => {
    expect(credentialHint(split({ key: 'sk-1' }), info, { ANTHROPIC_API_KEY: 'sk-1' })).toBe(
      'env:ANTHROPIC_API_KEY',
    );
  });
});

describe('a token of the credential function', () => {
  it.each([
    [{ headers: { authorization: 'Bearer old' } }, { authorization: 'Bearer new' }, {}],
    [{ headers: { 'x-api-key': 'old', 'anthropic-workspace-id': 'w' } }, undefined, {}],
    [{ headers: {}, query: { key: 'old' } }, {}, { key: 'new' }],
    [{}, { 'x-api-key': 'new' }, {}],
  ])('takes the place of the captured one: %j', (captured, headers, query) => {
    expect(withToken(captured, anthropicInfo, 'new')).toEqual({
      headers: headers ?? { 'x-api-key': 'new', 'anthropic-workspace-id': 'w' },
      query,
    });
  });

  it('is a bearer token where the provider has no other header', () => {
    expect(withToken({}, openaiInfo, 'new').headers).toEqual({ authorization: 'Bearer new' });
  });

  it('keeps calls of two functions apart, and those of one together', () => {
    const headers = { authorization: 'Bearer a' };
    const [one, other] = [() => 'a', () => 'a'];
    const key = (credential: () => string) =>
      splitHeaders({ ...headers }, openaiInfo, false, { query: {}, credential }).key;
    expect(key(one)).toBe(key(one));
    expect(key(one)).not.toBe(key(other));
  });
});
