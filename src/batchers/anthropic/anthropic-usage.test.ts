import { describe, expect, it } from 'vitest';
import type { Batcher } from '../batcher.ts';
import { VertexBatcher } from '../vertex/vertex-batcher.ts';
import { AnthropicBatcher } from './anthropic-batcher.ts';

const anthropic = new AnthropicBatcher();
const vertex = new VertexBatcher();
const onVertex = '/projects/p/locations/l/publishers/anthropic';

describe.each([
  ['Anthropic', anthropic],
  ['Vertex', vertex],
])('the usage of a message by %s', (_name, batcher) => {
  it.each([
    [
      {
        input_tokens: 3,
        output_tokens: 4,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 7,
      },
      { inputTokens: 110, outputTokens: 4, cacheReadTokens: 7, cacheWriteTokens: 100 },
    ],
    [
      {
        input_tokens: 3,
        cache_creation_input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 40, ephemeral_1h_input_tokens: 60 },
      },
      { inputTokens: 103, cacheWriteTokens: 40, cacheWrite1hTokens: 60 },
    ],
    [
      {
        input_tokens: 3,
        cache_creation: null,
        cache_read_input_tokens: null,
        server_tool_use: null,
      },
      { inputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0, webSearches: 0 },
    ],
    [
      { input_tokens: 3, inference_geo: 'us', server_tool_use: { web_search_requests: 2 } },
      { priceFactor: 1.1, webSearches: 2 },
    ],
  ])('%j is %j', (usage, expected) => {
    expect(batcher.usage({ usage })).toMatchObject(expected);
  });
});

describe('what a request asks to be cached', () => {
  const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } });
  /** About so many tokens. */
  const text = (tokens: number) => ({ type: 'text', text: 'word'.repeat(tokens) });

  function writes(
    json: Record<string, unknown>,
    batcher: Batcher = anthropic,
    endpoint = '/v1/messages',
  ) {
    const body = JSON.stringify(json);
    const { cacheWriteTokens = 0, cacheWrite1hTokens = 0 } = batcher.expects(
      { endpoint, body },
      json,
    );
    const rounded = (tokens: number) => Math.round(tokens / 100) * 100;
    return [rounded(cacheWriteTokens), rounded(cacheWrite1hTokens)];
  }

  it.each([
    ['nothing', { system: [text(500)] }, [0, 0]],
    ['up to its mark', { system: [{ ...text(500), ...mark() }, text(900)] }, [500, 0]],
    ['for an hour', { system: [{ ...text(500), ...mark('1h') }] }, [0, 500]],
    [
      'tools and the system before messages, wherever they stand',
      {
        messages: [{ role: 'user', content: [{ ...text(300), ...mark() }, text(900)] }],
        system: [{ ...text(500), ...mark('1h') }],
        tools: [{ name: 'tool', description: 'word'.repeat(200) }],
      },
      [300, 700],
    ],
    [
      'everything, by a mark at the top',
      {
        ...mark(),
        system: 'word'.repeat(500),
        messages: [{ role: 'user', content: 'word'.repeat(300) }],
      },
      [800, 0],
    ],
  ])('%s', (_name, json, expected) => {
    const sent = { model: 'claude', max_tokens: 9, ...json };
    expect(writes(sent)).toEqual(expected);
    expect(writes(sent, vertex, onVertex)).toEqual(expected);
  });
});
