import { describe, expect, it } from 'vitest';
import { anthropicMessages } from './anthropic.ts';
import { answerOf, eventsOf } from './read-events.test-helper.ts';

const usage = { input_tokens: 3, output_tokens: 9, service_tier: 'batch' };
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-test',
  content: [{ type: 'text', text: 'hi', citations: null }],
  stop_reason: 'stop_sequence',
  stop_sequence: 'END',
  container: { id: 'container_1' },
  usage,
};

function events(json: object) {
  return eventsOf(anthropicMessages(answerOf(json))).map(({ name, data }) => {
    expect(name).toBe((data as { type: string }).type);
    return data as Record<string, unknown>;
  });
}

/** The start of a block and its deltas. */
function told(block: object) {
  const [start, ...rest] = events({ ...message, content: [block] }).slice(1, -3);
  return [start?.content_block, ...rest.map(({ delta }) => delta)];
}

describe('a message as events', () => {
  it('starts empty, tells its blocks, and ends with its reason and its usage', () => {
    expect(events(message)).toEqual([
      {
        type: 'message_start',
        message: {
          ...message,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          stop_details: null,
          usage: { ...usage, output_tokens: 1 },
        },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'text', text: '', citations: null },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: {
          stop_reason: 'stop_sequence',
          stop_sequence: 'END',
          stop_details: null,
          container: { id: 'container_1' },
        },
        usage,
      },
      { type: 'message_stop' },
    ]);
  });

  it('says again at its end how its context was managed', () => {
    const managed = { ...message, context_management: { applied_edits: [] } };
    expect(events(managed).at(-2)).toMatchObject({ context_management: { applied_edits: [] } });
    expect(events(message).at(-2)).not.toHaveProperty('context_management');
  });

  it('numbers its blocks', () => {
    const text = { type: 'text', text: 'hi' };
    const numbered = events({ ...message, content: [text, text] }).map(({ index }) => index);
    expect(numbered).toEqual([undefined, 0, 0, 0, 1, 1, 1, undefined, undefined]);
  });
});

describe('a block as events', () => {
  it('of text tells its citations first', () => {
    const citation = { type: 'char_location', cited_text: 'x' };
    expect(told({ type: 'text', text: 'hi', citations: [citation] })).toEqual([
      { type: 'text', text: '', citations: [] },
      { type: 'citations_delta', citation },
      { type: 'text_delta', text: 'hi' },
    ]);
  });

  it('of thinking tells its signature last', () => {
    expect(told({ type: 'thinking', thinking: 'hm', signature: 'sig' })).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: 'sig' },
    ]);
  });

  it('of thinking without a signature tells none', () => {
    expect(told({ type: 'thinking', thinking: 'hm' })).toEqual([
      { type: 'thinking', thinking: '' },
      { type: 'thinking_delta', thinking: 'hm' },
    ]);
  });

  it.each(['tool_use', 'server_tool_use'])('of %s tells its input as JSON text', (type) => {
    expect(told({ type, id: 'toolu_1', name: 'f', input: { a: [1] } })).toEqual([
      { type, id: 'toolu_1', name: 'f', input: {} },
      { type: 'input_json_delta', partial_json: '{"a":[1]}' },
    ]);
  });

  it('of a tool keeps every digit of its input, as the provider does', () => {
    const input =
      '{"id":1234567890123456789,"text":"1234567890123456789 \\"0\\"","n":[-90071992547409931]}';
    const block = `{"type":"tool_use","id":"toolu_1","name":"f","input":${input}}`;
    const body = JSON.stringify({ ...message, content: [] }).replace('[]', `[${block}]`);
    const deltas = eventsOf(anthropicMessages({ status: 200, headers: {}, body }))
      .map(({ data }) => data as { delta?: { partial_json?: string } })
      .flatMap(({ delta }) => delta?.partial_json ?? []);
    expect(deltas).toEqual([input]);
  });

  it('of a result keeps every digit, too', () => {
    const block = '{"type":"result_of_tomorrow","id":1234567890123456789}';
    const body = JSON.stringify({ ...message, content: [] }).replace('[]', `[${block}]`);
    const told = anthropicMessages({ status: 200, headers: {}, body }).body;
    expect(told).toContain(`"content_block":${block}`);
  });

  it('of a remote tool tells its input twice, for either kind of client', () => {
    const block = { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'f', input: { a: 1 } };
    const delta = { type: 'input_json_delta', partial_json: '{"a":1}' };
    expect(told(block)).toEqual([block, delta]);
  });

  it('of a compaction tells its content', () => {
    const block = { type: 'compaction', content: 'so far', encrypted_content: 'xyz' };
    expect(told(block)).toEqual([block, { ...block, type: 'compaction_delta' }]);
  });

  it('of a compaction that is signed comes whole, as at the provider', () => {
    const block = { type: 'compaction', content: 'so far', signature: 'sig' };
    expect(told(block)).toEqual([block]);
  });

  it.each([
    { type: 'redacted_thinking', data: 'xyz' },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    { type: 'something_new', text: 'hi' },
  ])('of $type comes whole', (block) => {
    expect(told(block)).toEqual([block]);
  });
});
