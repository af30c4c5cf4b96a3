import { describe, expect, it } from 'vitest';
import type { Answer, Dict } from '../../base/types.ts';
import { AnthropicBatcher } from '../anthropic/anthropic-batcher.ts';
import type { Batcher, Route } from '../batcher.ts';
import { OpenAIBatcher } from '../openai/openai-batcher.ts';
import { wildcards } from '../wildcards.ts';

const openai = new OpenAIBatcher();
const anthropic = new AnthropicBatcher();

interface Asked {
  readonly batcher?: Batcher;
  readonly path?: string;
  readonly query?: string;
  readonly headers?: Dict;
}

function match(body: string, asked: Asked = {}) {
  const { batcher = openai, headers = {}, query = '' } = asked;
  const path = asked.path ?? (batcher === openai ? '/chat/completions' : '/messages');
  const json = JSON.parse(body) as Record<string, unknown>;
  return batcher.match({ query, path, headers, body, json, settings: {} });
}

function route(body: string, asked: Asked = {}): Route {
  const found = match(body, asked);
  if ('bypass' in found) throw new Error(`bypassed: ${found.bypass}`);
  if (!('body' in found)) throw new Error('not one request');
  return found;
}

function bypass(body: string, asked: Asked = {}): string {
  const found = match(body, asked);
  return 'bypass' in found ? found.bypass : 'not bypassed';
}

const answer: Answer = { status: 200, headers: {}, body: '{"usage":{"total_tokens":7}}' };

function headersOf(stream: Route['stream']): Dict | undefined {
  return stream?.(answer).headers;
}

describe('which endpoints are batched', () => {
  it.each([
    ['/chat/completions', true],
    ['/responses', true],
    ['/embeddings', true],
    ['/completions', true],
    ['/moderations', true],
    ['/images/generations', true],
    ['/images/edits', true],
    ['/images/variations', false],
    ['/videos', false],
    ['/files', false],
    ['/batches', false],
    ['/audio/speech', false],
    ['/responses/resp_1/cancel', false],
    ['/chat/completions/', false],
    ['/', false],
  ])('OpenAI %s: %s', (path, handled) => {
    expect(wildcards(openai.info.endpoints, '/')(path)).toBe(handled);
  });

  it.each([
    ['/messages', true],
    ['/messages/batches', false],
    ['/messages/count_tokens', false],
    ['/complete', false],
  ])('Anthropic %s: %s', (path, handled) => {
    expect(wildcards(anthropic.info.endpoints, '/')(path)).toBe(handled);
  });
});

describe('the tier that a call of OpenAI asks for', () => {
  const asking = (tier: unknown) => `{"model":"m","service_tier":${JSON.stringify(tier)},"n":1}`;
  const lineOf = (more: object) => {
    const body = asking('flex');
    const json = JSON.parse(body) as Record<string, unknown>;
    const call = { query: '', path: '/chat/completions', headers: {}, body, json, settings: {} };
    return (openai.match({ ...call, ...more }) as Route).body;
  };

  it.each([null, 'auto', 'default'])('%j is none', (tier) => {
    expect(route(asking(tier)).body).toBe(asking(tier));
  });

  it.each(['priority', 'scale', 'ultrafast'])('"%s" is not batched', (tier) => {
    expect(bypass(asking(tier))).toContain(`the tier "${tier}" itself`);
  });

  it('"flex" is left out of the line, unless the call may have to go out as it came', () => {
    const without = '{"model":"m","n":1}';
    expect(lineOf({})).toBe(without);
    expect(lineOf({ lane: 'flex', isConfigured: true })).toBe(without);
    expect(lineOf({ isConfigured: true })).toBe(asking('flex'));
    expect(lineOf({ lane: 'realtime' })).toBe(asking('flex'));
  });
});

describe('how a call of OpenAI travels', () => {
  it('keeps the bytes of the body, in one line', () => {
    const body = '{"model":"m",\r\n "seed":12345678901234567890, "2":1, "1":"\\n\u2028"}';
    expect(route(body)).toEqual({
      endpoint: '/v1/chat/completions',
      model: 'm',
      batchHeaders: {},
      identity: [],
      body: '{"model":"m",   "seed":12345678901234567890, "2":1, "1":"\\n\u2028"}',
    });
  });

  it('leaves out a stream that is not asked for', () => {
    for (const stream of ['false', 'null']) {
      const body = `{"model":"m","stream":${stream},"stream_options":{"a":1},"n":1.0}`;
      expect(route(body).body).toBe('{"model":"m","n":1.0}');
    }
  });

  it.each(['/chat/completions', '/responses', '/completions'])(
    'tells a stream of %s by itself',
    (path) => {
      const body = '{"model":"m","stream":true,"stream_options":{"include_usage":true},"n":1.0}';
      const { stream, ...travelling } = route(body, { path });
      expect(travelling).toEqual(route('{"model":"m","n":1.0}', { path }));
      expect(headersOf(stream)).toEqual({ 'content-type': 'text/event-stream; charset=utf-8' });
    },
  );

  it.each(['/chat/completions', '/completions'])(
    'tells the usage of a stream of %s where that was asked for',
    (path) => {
      for (const usage of [true, false, null]) {
        const body = { model: 'm', stream: true, stream_options: { include_usage: usage } };
        const told = route(JSON.stringify(body), { path }).stream?.(answer).body ?? '';
        expect(told.includes('"usage":{"total_tokens":7}')).toBe(usage === true);
      }
    },
  );

  it('names the endpoint in the way of the batch', () => {
    expect(route('{"model":"m"}', { path: '/responses' }).endpoint).toBe('/v1/responses');
    expect(route('{"model":"m"}', { path: '/embeddings' }).endpoint).toBe('/v1/embeddings');
  });

  it('takes what changes the answer into its identity', () => {
    const asked = { headers: { 'openai-beta': 'x=v2', 'user-agent': 'me' }, query: '?mode=2' };
    expect(route('{"model":"m"}', asked).identity).toEqual(['openai-beta: x=v2', '?mode=2']);
  });

  it('stands in a line of which every byte is counted', () => {
    const found = route('{"model":"m"}');
    const { before, after } = openai.envelope(found, 'id-1');
    expect(JSON.parse(before + found.body + after)).toEqual({
      custom_id: 'id-1',
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'm' },
    });
    expect(Buffer.byteLength(before + after)).toBe(before.length + after.length);
    expect(openai.frameBytes(3)).toBe(3);
  });

  it.each([
    ['no model', '{"messages":[]}', /no model/],
    ['a model that is no text', '{"model":7}', /no model/],
    ['a background response', '{"model":"m","background":true}', /background/],
  ])('is bypassed with %s', (_what, body, reason) => {
    expect(bypass(body)).toMatch(reason);
  });

  it.each(['/moderations', '/images/generations'])(
    'is bypassed without a model at %s, although ordinary calls need none there',
    (path) => {
      expect(bypass('{"input":"x","prompt":"x"}', { path })).toMatch(/no model/);
    },
  );

  it.each([
    ['/embeddings', /no streamed answers/],
    ['/moderations', /no streamed answers/],
    ['/images/generations', /no partial images/],
    ['/images/edits', /no partial images/],
  ])('is bypassed with a stream of %s', (path, reason) => {
    expect(bypass('{"model":"m","stream":true}', { path })).toMatch(reason);
  });

  it.each([
    ['a text', '"one"', undefined],
    ['one text of a list', '["one"]', undefined],
    ['tokens', '[1,2,3]', undefined],
    ['nothing', '[]', undefined],
    ['texts', '["one","two","three"]', 3],
    ['lists of tokens', '[[1,2,3],[4]]', 2],
  ])('counts the inputs of embeddings: %s', (_what, input, units) => {
    const body = `{"model":"m","input":${input}}`;
    expect(route(body, { path: '/embeddings' }).units).toBe(units);
    expect(route(body, { path: '/responses' })).not.toHaveProperty('units');
  });

  it('is counted by its inputs at embeddings only', () => {
    const most = (path: string) => openai.limits(route('{"model":"m"}', { path })).units;
    expect(most('/embeddings')).toBe(50_000);
    expect(['/chat/completions', '/responses', '/moderations'].map(most)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('how a call of Anthropic travels', () => {
  const batcher = anthropic;

  it('keeps the bytes of the body without `stream`, in one line', () => {
    const body = '{"model":"m",\n"stream":false,"max_tokens":10,"2":1,"1":1e2}';
    expect(route(body, { batcher, headers: { 'anthropic-version': '2026-10-21' } })).toEqual({
      endpoint: '/v1/messages',
      model: 'm',
      batchHeaders: { 'anthropic-version': '2026-10-21' },
      identity: ['anthropic-version: 2026-10-21'],
      body: '{"model":"m","max_tokens":10,"2":1,"1":1e2}',
    });
    expect(route('{"model":"m", "a":1}', { batcher }).body).toBe('{"model":"m", "a":1}');
  });

  it('tells a stream by itself', () => {
    const { stream, ...travelling } = route('{"model":"m","stream":true}', { batcher });
    expect(travelling).toEqual(route('{"model":"m"}', { batcher }));
    expect(headersOf(stream)).toEqual({ 'content-type': 'text/event-stream; charset=utf-8' });
  });

  it('sorts the betas, because their order means nothing', () => {
    const routes = ['b-2, a-1', 'a-1,b-2', ' a-1 ,,b-2,a-1 '].map((betas) =>
      route('{"model":"m"}', { batcher, headers: { 'anthropic-beta': betas } }),
    );
    for (const { batchHeaders, identity } of routes) {
      expect(batchHeaders).toEqual({
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'a-1,b-2',
      });
      expect(identity).toEqual(['anthropic-version: 2023-06-01', 'anthropic-beta: a-1,b-2']);
    }
  });

  it('does not depend on the query, which old clients set and new ones do not', () => {
    const [old, recent] = ['?beta=true', ''].map((query) =>
      route('{"model":"m"}', { batcher, query }),
    );
    expect(old).toEqual(recent);
  });

  it('stands in an item of which every byte is counted', () => {
    const found = route('{"model":"m"}', { batcher });
    const { before, after } = batcher.envelope(found, 'id-1');
    const item = before + found.body + after;
    expect(JSON.parse(item)).toEqual({ custom_id: 'id-1', params: { model: 'm' } });
    const whole = `{"requests":[${[item, item, item].join(',')}]}`;
    expect(batcher.frameBytes(3)).toBe(whole.length - 3 * item.length);
  });

  it.each([
    ['no model', '{"max_tokens":1}', /no model/],
    ['a speed', '{"model":"m","speed":"fast"}', /speed/],
    [
      'a fallback with a speed',
      '{"model":"m","fallbacks":[{"model":"n","speed":"fast"}]}',
      /speed/,
    ],
    ['max_tokens 0', '{"model":"m","max_tokens":0}', /max_tokens/],
  ])('is bypassed with %s', (_what, body, reason) => {
    expect(bypass(body, { batcher })).toMatch(reason);
  });
});

describe('what an answer used', () => {
  it('is read in all shapes of OpenAI', () => {
    const chat = { usage: { prompt_tokens: 3, completion_tokens: 4 } };
    const responses = { usage: { input_tokens: 3, output_tokens: 4 } };
    const embeddings = { usage: { prompt_tokens: 3, total_tokens: 3 } };
    expect(openai.usage(chat)).toMatchObject({ inputTokens: 3, outputTokens: 4 });
    expect(openai.usage(responses)).toMatchObject({ inputTokens: 3, outputTokens: 4 });
    expect(openai.usage(embeddings)).toMatchObject({ inputTokens: 3, outputTokens: 0 });
    const images = { usage: { input_tokens: 3, output_tokens: 272, total_tokens: 275 } };
    expect(openai.usage(images)).toMatchObject({ inputTokens: 3, outputTokens: 272 });
    expect(openai.usage({ id: 'modr-1', results: [] })).toBeUndefined();
  });

  it('is unknown where it is not said', () => {
    for (const batcher of [openai, anthropic]) {
      for (const json of [{}, { usage: null }, null, 'text']) {
        expect(batcher.usage(json)).toBeUndefined();
      }
    }
  });

  it('is read of Anthropic', () => {
    const json = { usage: { input_tokens: 3, output_tokens: 4, service_tier: 'batch' } };
    expect(anthropic.usage(json)).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });
});

describe('an error of ours', () => {
  it('has the shape of the provider', () => {
    expect(JSON.parse(openai.errorBody('batchling_expired', 'late'))).toEqual({
      error: {
        message: 'late',
        type: 'batchling_expired',
        param: null,
        code: 'batchling_expired',
      },
    });
    expect(JSON.parse(anthropic.errorBody('batchling_expired', 'late'))).toEqual({
      type: 'error',
      error: { type: 'batchling_expired', message: 'late' },
    });
  });
});
