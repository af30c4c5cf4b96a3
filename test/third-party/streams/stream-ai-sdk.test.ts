import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, type LanguageModel, streamText, tool } from 'ai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anthropicMessages } from '../../../src/streams/anthropic.ts';
import { openaiChat } from '../../../src/streams/openai-chat.ts';
import { openaiResponses } from '../../../src/streams/openai-responses.ts';
import type { StreamDialect } from '../../../src/streams/stream-dialect.ts';
import { allOf } from '../../support/all-of.ts';
import { responseItems } from '../../support/clients/response-items.ts';
import {
  type AnswerServer,
  jsonAnswer,
  startAnswerServer,
} from '../../support/servers/answer-server.ts';

let server: AnswerServer;
let errors: unknown[];

beforeAll(async () => {
  server = await startAnswerServer();
});
beforeEach(() => {
  errors = [];
});
afterAll(() => server.close());

interface Subject {
  readonly dialect: StreamDialect;
  model(): LanguageModel;
  /** An answer that thinks, says hello, and calls a tool. */
  readonly json: object;
  readonly reasoning: string;
}

const openai = () => createOpenAI({ apiKey: 'sk-test-key', baseURL: server.url });
const anthropic = () => createAnthropic({ apiKey: 'sk-ant-test-key', baseURL: server.url });
const given = '{"city":"Zürich"}';

const subjects: Record<string, Subject> = {
  'of chat completions': {
    dialect: openaiChat({ includeUsage: true }),
    model: () => openai().chat('gpt-test'),
    reasoning: '',
    json: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'gpt-test',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello there',
            refusal: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'weather', arguments: given } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
    },
  },
  'of responses': {
    dialect: openaiResponses,
    model: () => openai().responses('gpt-test'),
    reasoning: 'hm',
    json: {
      id: 'resp_1',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'gpt-test',
      output: [
        { id: 'rs_1', type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello there', annotations: [], logprobs: [] }],
        },
        {
          id: 'fc_1',
          type: 'function_call',
          call_id: 'call_1',
          name: 'weather',
          arguments: given,
          status: 'completed',
        },
      ],
      usage: { input_tokens: 3, output_tokens: 5, total_tokens: 8 },
    },
  },
  'of messages': {
    dialect: anthropicMessages,
    model: () => anthropic()('claude-test'),
    reasoning: 'hm',
    json: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-test',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'sig' },
        { type: 'text', text: 'Hello there' },
        { type: 'tool_use', id: 'call_1', name: 'weather', input: JSON.parse(given) },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: { input_tokens: 3, output_tokens: 5 },
    },
  },
};

function ask(model: LanguageModel, tools = {}) {
  return streamText({
    model,
    tools,
    prompt: 'hello',
    maxOutputTokens: 64,
    maxRetries: 0,
    onError: ({ error }) => {
      errors.push(error);
    },
  });
}

describe.each(Object.entries(subjects))('streamText %s', (_what, subject) => {
  it('gets text, reasoning, tool call, reason and usage', async () => {
    server.answer = subject.dialect(jsonAnswer(subject.json));
    const weather = tool({ inputSchema: z.object({ city: z.string() }) });
    const result = ask(subject.model(), { weather });
    expect(await result.text).toBe('Hello there');
    expect((await result.reasoningText) ?? '').toBe(subject.reasoning);
    expect(await result.toolCalls).toMatchObject([
      { toolCallId: 'call_1', toolName: 'weather', input: { city: 'Zürich' } },
    ]);
    expect(await result.finishReason).toBe('tool-calls');
    expect(await result.totalUsage).toMatchObject({ inputTokens: 3, outputTokens: 5 });
    expect(errors).toEqual([]);
  });

  it('gets an error of the provider as its own class', async () => {
    const error = { type: 'error', error: { type: 'invalid_request_error', message: 'no' } };
    server.answer = subject.dialect({ ...jsonAnswer(error), status: 400 });
    await ask(subject.model()).consumeStream();
    expect(errors).toHaveLength(1);
    expect(APICallError.isInstance(errors[0]) && errors[0].statusCode).toBe(400);
  });
});

describe('the model below streamText', () => {
  const isCallOrResult = /^tool-(call|result)$/;

  /** What it makes of one item, between what every stream has. */
  async function partsOf(item: object): Promise<string[]> {
    const json = { ...subjects['of responses']?.json, output: [item] };
    server.answer = openaiResponses(jsonAnswer(json));
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hello' }] }];
    const { stream } = await openai().responses('gpt-test').doStream({ prompt });
    const types = (await allOf(stream)).map(({ type }) => type);
    expect(types.slice(0, 2)).toEqual(['stream-start', 'response-metadata']);
    expect(types.at(-1)).toBe('finish');
    return types.slice(2, -1);
  }

  it.each(Object.values(responseItems).map((item) => [item.type, item] as const))(
    'understands %s, or leaves it aside',
    async (_kind, item) => {
      // The service always says it, the types of the official SDK do not.
      const complete = item.type === 'custom_tool_call' ? { ...item, status: 'completed' } : item;
      expect(await partsOf(complete)).not.toContain('error');
    },
  );

  it.each([
    ['file_search_call', ['tool-call', 'tool-result']],
    ['image_generation_call', ['tool-call', 'tool-result']],
    ['mcp_call', ['tool-call', 'tool-result']],
    ['shell_call', ['tool-call']],
    ['local_shell_call', ['tool-call']],
  ] as const)('gets call and result of a %s', async (kind, parts) => {
    // Later versions also tell that the input begins and ends.
    const calls = (await partsOf(responseItems[kind])).filter((type) => isCallOrResult.test(type));
    expect(calls).toEqual(parts);
  });
});

describe('streamText with a tool that the provider runs', () => {
  it('gets the code and the result of the code interpreter', async () => {
    const call = {
      id: 'ci_1',
      type: 'code_interpreter_call',
      status: 'completed',
      container_id: 'cntr_1',
      code: 'print("1")\n',
      outputs: [{ type: 'logs', logs: '1' }],
    };
    server.answer = openaiResponses(
      jsonAnswer({ ...subjects['of responses']?.json, output: [call] }),
    );
    const interpreter = openai().tools.codeInterpreter({});
    const result = ask(openai().responses('gpt-test'), { code_interpreter: interpreter });
    expect(await result.toolCalls).toMatchObject([
      { toolCallId: 'ci_1', input: { code: 'print("1")\n', containerId: 'cntr_1' } },
    ]);
    expect(await result.toolResults).toMatchObject([{ output: { outputs: call.outputs } }]);
    expect(errors).toEqual([]);
  });

  it('gets the input of a remote tool of Anthropic', async () => {
    const content = [
      { type: 'mcp_tool_use', id: 'm_1', name: 'f', server_name: 's', input: { a: 1 } },
      { type: 'mcp_tool_result', tool_use_id: 'm_1', is_error: false, content: [] },
    ];
    const json = { ...subjects['of messages']?.json, content, stop_reason: 'end_turn' };
    server.answer = anthropicMessages(jsonAnswer(json));
    const result = ask(anthropic()('claude-test'));
    expect(await result.toolCalls).toMatchObject([{ toolCallId: 'm_1', input: { a: 1 } }]);
    expect(errors).toEqual([]);
  });
});
