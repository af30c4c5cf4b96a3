import type Anthropic from '@anthropic-ai/sdk';

type Block = Anthropic.Beta.BetaContentBlock;

/** The compiler sees that no kind of the official SDK is missing. The beta has all of the others, too. */
type OneOfEach = { readonly [Kind in Block['type']]: Extract<Block, { type: Kind }> };

/** What a message can hold, one block of every kind. Each call of a tool stands before its result. */
export const anthropicBlocks: OneOfEach = {
  thinking: { type: 'thinking', thinking: 'hm', signature: 'sig' },
  redacted_thinking: { type: 'redacted_thinking', data: 'xyz' },
  text: {
    type: 'text',
    text: 'Grüße 😀',
    citations: [
      {
        type: 'char_location',
        cited_text: 'x',
        document_index: 0,
        document_title: 'a',
        start_char_index: 0,
        end_char_index: 1,
        file_id: null,
      },
      {
        type: 'web_search_result_location',
        cited_text: 'y',
        encrypted_index: 'i',
        title: 'a',
        url: 'https://a.example',
      },
    ],
  },
  server_tool_use: {
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'web_search',
    input: { query: 'x' },
    caller: { type: 'direct' },
  },
  web_search_tool_result: {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      {
        type: 'web_search_result',
        url: 'https://a.example',
        title: 'a',
        page_age: null,
        encrypted_content: 'e',
      },
    ],
    caller: { type: 'direct' },
  },
  web_fetch_tool_result: {
    type: 'web_fetch_tool_result',
    tool_use_id: 'srvtoolu_2',
    content: {
      type: 'web_fetch_result',
      url: 'https://a.example',
      retrieved_at: '2026-11-16T00:00:00Z',
      content: {
        type: 'document',
        title: null,
        citations: { enabled: true },
        source: { type: 'text', media_type: 'text/plain', data: 'page' },
      },
    },
    caller: { type: 'direct' },
  },
  advisor_tool_result: {
    type: 'advisor_tool_result',
    tool_use_id: 'srvtoolu_3',
    content: { type: 'advisor_result', text: 'do it', stop_reason: 'end_turn' },
  },
  code_execution_tool_result: {
    type: 'code_execution_tool_result',
    tool_use_id: 'srvtoolu_4',
    content: {
      type: 'code_execution_result',
      stdout: '1\n',
      stderr: '',
      return_code: 0,
      content: [{ type: 'code_execution_output', file_id: 'file_1' }],
    },
  },
  bash_code_execution_tool_result: {
    type: 'bash_code_execution_tool_result',
    tool_use_id: 'srvtoolu_5',
    content: {
      type: 'bash_code_execution_result',
      stdout: '1\n',
      stderr: '',
      return_code: 0,
      content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
    },
  },
  text_editor_code_execution_tool_result: {
    type: 'text_editor_code_execution_tool_result',
    tool_use_id: 'srvtoolu_6',
    content: {
      type: 'text_editor_code_execution_view_result',
      content: 'a\n',
      file_type: 'text',
      num_lines: 1,
      start_line: 1,
      total_lines: 1,
    },
  },
  tool_search_tool_result: {
    type: 'tool_search_tool_result',
    tool_use_id: 'srvtoolu_7',
    content: {
      type: 'tool_search_tool_search_result',
      tool_references: [{ type: 'tool_reference', tool_name: 'weather' }],
    },
  },
  mcp_tool_use: {
    type: 'mcp_tool_use',
    id: 'mcptoolu_1',
    name: 'f',
    server_name: 's',
    input: { a: 1 },
  },
  mcp_tool_result: {
    type: 'mcp_tool_result',
    tool_use_id: 'mcptoolu_1',
    is_error: false,
    content: [{ type: 'text', text: 'done', citations: null }],
  },
  mcp_tool_listing: {
    type: 'mcp_tool_listing',
    mcp_server_name: 's',
    tools: [{ name: 'f', description: 'does it', input_schema: { type: 'object' } }],
  },
  container_upload: { type: 'container_upload', file_id: 'file_1' },
  compaction: { type: 'compaction', content: 'so far', encrypted_content: 'xyz' },
  fallback: {
    type: 'fallback',
    from: { model: 'claude-first' },
    to: { model: 'claude-test' },
    trigger: { type: 'refusal', category: null },
  },
  tool_use: {
    type: 'tool_use',
    id: 'toolu_1',
    name: 'weather',
    input: { city: 'Zürich', days: [1, { deep: null }] },
    caller: { type: 'direct' },
    toolset_name: null,
  },
};
