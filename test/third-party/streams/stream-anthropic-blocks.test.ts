import { createAnthropic as createV3 } from '@ai-sdk/anthropic';
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic as createV4 } from 'ai-sdk-anthropic-v4';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../../src/streams/anthropic.ts';
import { allOf } from '../../support/all-of.ts';
import { anthropicBlocks } from '../../support/clients/anthropic-blocks.ts';
import {
  type AnswerServer,
  jsonAnswer,
  startAnswerServer,
} from '../../support/servers/answer-server.ts';

let server: AnswerServer;

beforeAll(async () => {
  server = await startAnswerServer();
});
afterAll(() => server.close());

const apiKey = 'sk-ant-test-key';

function message(content: readonly object[]) {
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
    context_management: { applied_edits: [] },
    input_transformations: [],
    field_of_tomorrow: { a: 1 },
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 7,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 5,
      server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 },
      service_tier: 'batch',
      inference_geo: 'eu',
      iterations: [],
      output_tokens_details: { thinking_tokens: 2 },
    },
  };
}

const futureBlocks = {
  'a text of tomorrow': { type: 'connector_text', text: 'hi', signature: 's' },
  'a tool of tomorrow': { type: 'browser_tool_use', id: 'b_1', name: 'f', input: { a: 1 } },
};
const signed = { ...anthropicBlocks.compaction, signature: 's' };
const blocks = Object.entries<object>({
  ...anthropicBlocks,
  'a signed compaction': signed,
  ...futureBlocks,
});
/** In streams, that is: version 4 knows the upload in whole answers. */
const unknownToClient = [...Object.keys(futureBlocks), 'mcp_tool_listing', 'container_upload'];
const all: readonly object[] = blocks.map(([, block]) => block);

function serve(content: readonly object[]): void {
  server.answer = anthropicMessages(jsonAnswer(message(content)));
}

describe.each(['messages', 'beta'] as const)('the official client (%s)', (kind) => {
  const asked = {
    model: 'claude-test',
    max_tokens: 64,
    messages: [{ role: 'user' as const, content: 'hello' }],
  };

  async function final(content: readonly object[]): Promise<unknown> {
    serve(content);
    const client = new Anthropic({ apiKey, baseURL: server.url, maxRetries: 0 });
    const { messages, beta } = client;
    const stream = kind === 'beta' ? beta.messages.stream(asked) : messages.stream(asked);
    const told = await stream.finalMessage();
    // The client adds what a schema would have parsed.
    const { parsed_output: parsed, ...rest } = told as unknown as Record<string, unknown>;
    expect(parsed ?? null).toBeNull();
    return JSON.parse(JSON.stringify(rest));
  }

  it.each(blocks)('puts together what the message was, with %s', async (_kind, block) => {
    expect(await final([block])).toEqual(message([block]));
  });

  it('puts together a message with a block of every kind', async () => {
    expect(await final(all)).toEqual(message(all));
  });
});

/** Sources may come before their text or after it. */
const sorted = (parts: readonly unknown[]) => parts.map((part) => JSON.stringify(part)).sort();

describe.each([
  ['3', createV3],
  ['4', createV4],
] as const)('@ai-sdk/anthropic %s', (version, create) => {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
  const model = () => create({ apiKey, baseURL: server.url })('claude-test');

  interface Part {
    readonly type: string;
    readonly delta?: string;
    readonly text?: string;
  }

  /** Texts, and calls, results and sources without the ids that the client makes up. */
  function contentOf(parts: readonly Part[]): unknown[] {
    return parts
      .filter(({ type }) => /^(text|reasoning)(-delta)?$|^tool-(call|result)$|^source$/.test(type))
      .map((part) =>
        /^text|^reasoning/.test(part.type)
          ? { type: part.type.replace('-delta', ''), text: part.delta ?? part.text }
          : { ...part, ...(part.type === 'source' && { id: 'any' }) },
      )
      .filter((part) => !('text' in part && part.text === ''));
  }

  it.each(blocks)(
    'makes the same of a stream as of a whole answer, with %s',
    async (kind, block) => {
      const content = kind === 'mcp_tool_result' ? [anthropicBlocks.mcp_tool_use, block] : [block];
      server.answer = jsonAnswer(message(content));
      const whole = await Promise.resolve(model().doGenerate({ prompt } as never)).catch(
        (error: Error) => error,
      );
      serve(content);
      const { stream } = await model().doStream({ prompt } as never);
      const parts: Part[] = await allOf<Part>(stream as never);
      const isError = parts.some(({ type }) => type === 'error');
      expect(isError).toBe(unknownToClient.includes(kind));
      if (isError || whole instanceof Error) return;
      // Signed ones are newer than version 3, which shows nothing of them in any stream.
      if (block === signed && version === '3') return;
      expect(sorted(contentOf(parts))).toEqual(sorted(contentOf(whole.content)));
    },
  );
});
