import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../streams/anthropic.ts';
import { googleEvents } from '../../streams/google.ts';
import type { Call, Route } from '../batcher.ts';
import { matchVertex, placeOf } from './vertex-calls.ts';
import { vertexInfo } from './vertex-info.ts';

const settings = { bucket: 'gs://mine' };
const gemini = '/projects/p/locations/global/publishers/google/models/gemini-x';
const claude = '/projects/p/locations/europe-west1/publishers/anthropic/models/claude-x%401';

function match(path: string, body: string, given: Partial<Call> = {}) {
  return matchVertex({
    query: '',
    path,
    headers: {},
    body,
    json: JSON.parse(body),
    settings,
    ...given,
  });
}

const content = '{"contents":[{"parts":[{"text":"a"}]}]}';
const message = '{"anthropic_version":"vertex-2023-10-16","max_tokens":9,"messages":[]}';

describe('a call of Gemini', () => {
  it('is the same request, streamed or not', () => {
    const { stream, ...route } = match(`${gemini}:streamGenerateContent`, content, {
      query: '?alt=sse',
    }) as Route;
    expect(stream).toBe(googleEvents);
    expect(route).toEqual(match(`${gemini}:generateContent`, content));
    expect(route).toMatchObject({ model: 'gemini-x', body: content, partition: 'gs://mine' });
    expect(placeOf(route.endpoint)).toEqual({
      parent: '/projects/p/locations/global',
      publisher: 'google',
    });
  });

  it('with cached content is left alone', () => {
    const body = '{"cachedContent":"projects/p/x","contents":[]}';
    expect(match(`${gemini}:generateContent`, body)).toHaveProperty('bypass');
  });
});

describe('a call of Claude', () => {
  it('travels without `stream`, with the version of its body', () => {
    const body = `{"stream":true,${message.slice(1)}`;
    const { stream, ...route } = match(`${claude}:streamRawPredict`, body) as Route;
    expect(stream).toBe(anthropicMessages);
    expect(route).toEqual(match(`${claude}:rawPredict`, message));
    expect(route).toMatchObject({ model: 'claude-x@1', body: message });
  });

  it('is left alone in the location global, and with betas', () => {
    const global = claude.replace('europe-west1', 'global');
    expect(match(`${global}:rawPredict`, message)).toHaveProperty('bypass');
    const headers = { 'anthropic-beta': 'context-1m' };
    expect(match(`${claude}:rawPredict`, message, { headers })).toHaveProperty('bypass');
  });
});

it('that counts tokens is left alone', () => {
  const path = claude.replace('claude-x%401', 'count-tokens');
  expect(match(`${path}:rawPredict`, message)).toHaveProperty('bypass');
});

it.each([
  [`${gemini}:generateContent`, content],
  [`${claude}:rawPredict`, message],
])('without a bucket, %s is told to set one', (path, body) => {
  const told = match(path, body, { settings: {} });
  expect(told).toMatchObject({ unconfigured: expect.stringContaining('bucket') });
});

it('without a project is left alone', () => {
  const path = '/publishers/google/models/gemini-x:generateContent';
  expect(match(path, content)).toHaveProperty('bypass');
});

describe('the setting `bucket`', () => {
  const parse = (value: unknown) => vertexInfo.settings?.bucket?.parse(value);

  it.each([
    ['gs://mine', 'gs://mine'],
    ['gs://mine/', 'gs://mine'],
    ['gs://my.bucket_1/a/b-c/', 'gs://my.bucket_1/a/b-c'],
  ])('%s is %s', (given, parsed) => expect(parse(given)).toBe(parsed));

  it.each([7, '', 'gs://', 'gs://Mine', 's3://mine', 'gs://mine//a', 'gs://mine/a b'])(
    '%j is refused',
    (given) => expect(parse(given)).toBeUndefined(),
  );
});
