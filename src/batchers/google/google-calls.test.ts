import { describe, expect, it } from 'vitest';
import { googleArray, googleEvents } from '../../streams/google.ts';
import type { Call, FanOut, Route } from '../batcher.ts';
import { matchGemini } from './google-calls.ts';

function match(path: string, body: string, query = '') {
  const call: Call = { query, path, headers: {}, body, json: JSON.parse(body), settings: {} };
  return matchGemini(call);
}

const body = '{"contents":[{"parts":[{"text":"a"}]}]}';
const generate = '/models/gemini-x:generateContent';
const stream = '/models/gemini-x:streamGenerateContent';

describe('a call', () => {
  it('is the same request, streamed or not', () => {
    const { stream: dialect, ...streamed } = match(stream, body, '?alt=sse') as Route;
    expect(streamed).toEqual(match(generate, body));
    expect(streamed).toMatchObject({
      endpoint: 'generateContent',
      model: 'gemini-x',
      identity: [],
    });
    expect(dialect).toBe(googleEvents);
  });

  it('is streamed as it asks', () => {
    expect(match(stream, body)).toMatchObject({ stream: googleArray });
    expect(match(stream, body, '?alt=json')).toMatchObject({ stream: googleArray });
    expect(match(stream, body, '?x=1&%24alt=sse')).toMatchObject({ stream: googleEvents });
    expect(match(generate, body, '?alt=sse')).not.toHaveProperty('stream');
  });

  it('keeps the rest of its query', () => {
    expect(match(generate, body, '?alt=sse&a=1&b=2')).toMatchObject({ identity: ['?a=1&b=2'] });
  });

  it('is left alone where there is no batch for it', () => {
    expect(match('/models/m:countTokens', body)).toHaveProperty('bypass');
    expect(match('/elsewhere', body)).toHaveProperty('bypass');
  });
});

describe('a call for several embeddings', () => {
  const many = '/models/embed-x:batchEmbedContents';
  const first = '{"model":"models/embed-x","content":{"parts":[{"text":"],{"}]},"2":1.0}';
  const second = '{ "content" : {"parts":[{"text":"b"}]} }';

  it('is a request for each, byte for byte', () => {
    const { parts } = match(many, `{"requests":\n[ ${first},\n${second} ]}`) as FanOut;
    expect(parts.map((part) => part.body)).toEqual([first, second]);
    for (const part of parts) {
      expect(part).toMatchObject({ endpoint: 'embedContent', model: 'embed-x', batchHeaders: {} });
    }
  });

  it('is the same request as one embedding', () => {
    const { parts } = match(many, `{"requests":[${second}]}`) as FanOut;
    expect(parts[0]).toEqual(match('/models/embed-x:embedContent', second));
  });

  it('is answered in the order of its parts, byte for byte', () => {
    const { join } = match(many, `{"requests":[${first},${second}]}`) as FanOut;
    const answer = (values: string) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: `{"embedding":{"values":[${values}]},"tokenCount":"3"}`,
    });
    expect(join([answer('1.0,1e-7'), answer('0.5')])).toMatchObject({
      status: 200,
      body: '{"embeddings":[{"values":[1.0,1e-7]},{"values":[0.5]}]}',
    });
    expect(() => join([answer('1'), { ...answer('2'), body: '{"other":1}' }])).toThrow(
      'no embedding',
    );
  });

  it.each(['{}', '{"requests":[]}', '{"requests":{}}', '{"requests":[7]}'])(
    'that is %s is left alone',
    (text) => {
      expect(match(many, text)).toHaveProperty('bypass');
    },
  );
});
