import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../../src/streams/anthropic.ts';
import { allOf } from '../../support/all-of.ts';
import fc from '../../support/fast-check.ts';
import {
  type AnswerServer,
  jsonAnswer,
  startAnswerServer,
} from '../../support/servers/answer-server.ts';

let server: AnswerServer;
let client: Anthropic;

beforeAll(async () => {
  server = await startAnswerServer();
  client = new Anthropic({ apiKey: 'sk-ant-test-key', baseURL: server.url, maxRetries: 0 });
});
afterAll(() => server.close());

const asked = {
  model: 'claude-test',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'hello' }],
};

function message(content: readonly object[], change: object = {}) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content,
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 7,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 5,
      server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
      service_tier: 'batch',
    },
    ...change,
  };
}

const text = (content: string) => ({ type: 'text', text: content, citations: null });
const citation = {
  type: 'char_location',
  cited_text: 'x',
  document_index: 0,
  document_title: null,
  start_char_index: 0,
  end_char_index: 1,
  file_id: null,
};

const blocks: Record<string, object> = {
  text: text('Hello there'),
  'an empty text': text(''),
  'a text with citations': { type: 'text', text: 'x', citations: [citation, citation] },
  thinking: { type: 'thinking', thinking: 'hm', signature: 'sig' },
  'redacted thinking': { type: 'redacted_thinking', data: 'xyz' },
  'a tool with arguments': { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: ['ü', 1] } },
  'a tool without arguments': { type: 'tool_use', id: 'toolu_2', name: 'g', input: {} },
  "a server's tool": {
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'web_search',
    input: { query: 'x' },
  },
  "the result of a server's tool": {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://a.example', title: 'a' }],
  },
};

/** Blocks that only the beta client knows. */
const betaBlocks: Record<string, object> = {
  'a remote tool': {
    type: 'mcp_tool_use',
    id: 'mcptoolu_1',
    name: 'f',
    server_name: 's',
    input: { a: 1 },
  },
  'the result of a remote tool': {
    type: 'mcp_tool_result',
    tool_use_id: 'mcptoolu_1',
    is_error: false,
    content: [{ type: 'text', text: 'done', citations: null }],
  },
  'a compaction': { type: 'compaction', content: 'so far' },
};

function serve(json: object): void {
  server.answer = anthropicMessages(jsonAnswer(json));
}

async function final(json: object): Promise<unknown> {
  serve(json);
  const told = await client.messages.stream(asked).finalMessage();
  // The client adds what a schema would have parsed.
  const { parsed_output: parsed, ...rest } = told as unknown as Record<string, unknown>;
  expect(parsed ?? null).toBeNull();
  return JSON.parse(JSON.stringify(rest));
}

describe("the official client's final message is the source of the stream", () => {
  it.each(Object.entries({ ...blocks, ...betaBlocks }))('with %s', async (_what, block) => {
    expect(await final(message([block]))).toEqual(message([block]));
  });

  it('with one block of each', async () => {
    const source = message(Object.values(blocks));
    expect(await final(source)).toEqual(source);
  });

  it.each([
    ['no block', message([])],
    ['a stop sequence', message([], { stop_reason: 'stop_sequence', stop_sequence: 'END' })],
    [
      'a container',
      message([], { container: { id: 'container_1', expires_at: '2030-01-01T00:00:00Z' } }),
    ],
    [
      'the details of its stop',
      message([], { stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'x' } }),
    ],
  ])('with %s', async (_what, source) => {
    expect(await final(source)).toEqual(source);
  });

  it.each(Object.entries(betaBlocks))('in its beta with %s', async (_what, block) => {
    const management = { applied_edits: [{ type: 'x', cleared_input_tokens: 1 }] };
    const source = message([block], { context_management: management });
    serve(source);
    const told = await client.beta.messages.stream(asked).finalMessage();
    expect(told).toMatchObject(source);
  });

  it('whatever the text', async () => {
    const strings = fc.string({ unit: 'binary' });
    const told = fc.oneof(
      strings.map(text),
      strings.map((thinking) => ({ type: 'thinking', thinking, signature: 's' })),
      strings.map((a) => ({ type: 'tool_use', id: 'toolu_1', name: 'f', input: { a, b: [a] } })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(told), async (content) => {
        expect(await final(message(content))).toEqual(message(content));
      }),
      { numRuns: 50 },
    );
  });
});

describe('the official client that reads event by event', () => {
  it('gets the text and the usage', async () => {
    serve(message([text('Hello there')]));
    const events = await allOf(await client.messages.create({ ...asked, stream: true }));
    expect(events.map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events[2]).toMatchObject({ delta: { text: 'Hello there' } });
    expect(events[4]).toMatchObject({ usage: { output_tokens: 5 } });
  });

  it('gets an error of the provider as its own class', async () => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'no' } };
    server.answer = anthropicMessages({ ...jsonAnswer(error), status: 400 });
    await expect(client.messages.create({ ...asked, stream: true })).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    );
  });
});
