import { describe, expect, it } from 'vitest';
import { AnthropicBatcher } from '../../batchers/anthropic/anthropic-batcher.ts';
import type { ProviderInfo } from '../../batchers/batcher.ts';
import { openaiInfo } from '../../batchers/openai/openai-batcher.ts';
import type { Dict } from '../../types.ts';
import { accountHash, credentialHint, splitHeaders } from './credentials.ts';

const anthropicInfo = new AnthropicBatcher().info;
const salt = Buffer.alloc(32, 7);

function hash(headers: Dict, info: ProviderInfo = openaiInfo, key: Uint8Array = salt): string {
  const { secrets } = splitHeaders(headers, info, false);
  return accountHash(key, secrets, info).toString('hex');
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
    const secrets = { authorization: 'Bearer sk-1' };
    expect(credentialHint(secrets, openaiInfo, { OPENAI_API_KEY: 'sk-1' })).toBe(
      'env:OPENAI_API_KEY',
    );
    const environment = { ANTHROPIC_API_KEY: 'other', ANTHROPIC_AUTH_TOKEN: 'sk-1' };
    expect(credentialHint(secrets, anthropicInfo, environment)).toBe('env:ANTHROPIC_AUTH_TOKEN');
    expect(credentialHint({ 'x-api-key': 'sk-1' }, anthropicInfo, environment)).toBe(
      'env:ANTHROPIC_AUTH_TOKEN',
    );
  });

  it('is missing where no variable holds it', () => {
    const secrets = { authorization: 'Bearer sk-1' };
    for (const environment of [{}, { OPENAI_API_KEY: 'sk-2' }, { OTHER: 'sk-1' }]) {
      expect(credentialHint(secrets, openaiInfo, environment)).toBeUndefined();
    }
    expect(credentialHint({}, openaiInfo, { OPENAI_API_KEY: '' })).toBeUndefined();
    expect(credentialHint({ authorization: '' }, openaiInfo, { OPENAI_API_KEY: '' })).toBe(
      undefined,
    );
  });
});
