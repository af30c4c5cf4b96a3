import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openaiResponses } from '../../../src/streams/openai-responses.ts';
import { allOf } from '../../support/all-of.ts';
import { responseItems } from '../../support/clients/response-items.ts';
import fc from '../../support/fast-check.ts';
import {
  type AnswerServer,
  jsonAnswer,
  startAnswerServer,
} from '../../support/servers/answer-server.ts';

type Item = OpenAI.Responses.ResponseOutputItem;

let server: AnswerServer;
let client: OpenAI;

beforeAll(async () => {
  server = await startAnswerServer();
  client = new OpenAI({ apiKey: 'sk-test-key', baseURL: server.url, maxRetries: 0 });
});
afterAll(() => server.close());

const asked = { model: 'gpt-test', input: 'hello' };

function response(output: readonly unknown[], change: object = {}) {
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    completed_at: 1_700_000_001,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: 'gpt-test',
    output,
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 8,
    },
    ...change,
  };
}

const text = (content: string) => ({
  type: 'output_text',
  text: content,
  annotations: [],
  logprobs: [],
});
const message = (...content: object[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content,
});

const everyItem: readonly Item[] = Object.values(responseItems);
const byKind = everyItem.map((item) => [item.type, item] as const);
/** The SDK does not know it, but must not lose it either. */
const tomorrows = { id: 'new_1', type: 'dream_call', status: 'completed', content: 'about sheep' };

function serve(json: object): void {
  server.answer = openaiResponses(jsonAnswer(json));
}

/** What the SDK makes of the stream, without what it adds by itself. */
async function final(): Promise<unknown> {
  const told = await client.responses.stream(asked).finalResponse();
  const { output_parsed: parsed, output_text: _said, output, ...rest } = told;
  expect(parsed).toBeNull();
  return { ...rest, output: output.map(withoutParsed) };
}

function withoutParsed(item: object): object {
  const { parsed_arguments: _, ...rest } = item as Record<string, unknown>;
  if (rest.type !== 'message') return rest;
  const parts = rest.content as Record<string, unknown>[];
  return { ...rest, content: parts.map(({ parsed: _parsed, ...part }) => part) };
}

/** What the client rebuilds before the last events, which would replace it all. */
async function rebuilt(item: object): Promise<unknown> {
  serve(response([item]));
  const { body } = server.answer;
  const marked = 'event: response.output_item.done';
  server.answer = { ...server.answer, body: body.slice(0, body.indexOf(marked)) };
  const { output } = (await final()) as { output: object[] };
  return output[0];
}

describe("the official client's final response is the source of the stream", () => {
  it.each([...byKind, ['a kind of tomorrow', tomorrows] as const])('with %s', async (_, item) => {
    const source = response([item]);
    serve(source);
    expect(await final()).toEqual(source);
  });

  it('with one of every item, whose text is put together', async () => {
    const source = response([...everyItem, tomorrows]);
    serve(source);
    expect(await final()).toEqual(source);
    expect((await client.responses.stream(asked).finalResponse()).output_text).toBe('Hello there');
  });

  it.each([
    ['incomplete', { incomplete_details: { reason: 'max_output_tokens' } }, 'incomplete'],
    ['failed', { error: { code: 'server_error', message: 'no' } }, 'in_progress'],
  ])('when it is %s', async (status, details, ofItem) => {
    const cut = { ...message(text('Hel')), status: ofItem };
    const source = response([cut], { status, ...details });
    serve(source);
    expect(await final()).toEqual(source);
  });

  it('when it has failed before it said anything', async () => {
    const error = { code: 'server_error', message: 'no' };
    const source = response([], { status: 'failed', error, usage: null });
    serve(source);
    expect(await final()).toEqual(source);
  });

  it('whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), async (texts) => {
        serve(response([message(...texts.map((one) => text(one)))]));
        const told = await client.responses.stream(asked).finalResponse();
        expect(told.output_text).toBe(texts.join(''));
      }),
      { numRuns: 30 },
    );
  });
});

describe('the official client rebuilds from the deltas alone', () => {
  it.each(['function_call', 'custom_tool_call', 'reasoning', 'message'] as const)(
    'a %s',
    async (kind) => {
      const item = responseItems[kind];
      const running = 'status' in item ? { ...item, status: 'in_progress' } : item;
      expect(await rebuilt(item)).toEqual(running);
    },
  );

  it.each([
    ['web_search_call', {}],
    ['file_search_call', { results: null }],
    ['image_generation_call', { result: null }],
    ['code_interpreter_call', { outputs: null }],
    ['mcp_call', { output: null }],
  ] as const)('that a %s has ended, without its results', async (kind, unwritten) => {
    expect(await rebuilt(responseItems[kind])).toEqual({ ...responseItems[kind], ...unwritten });
  });

  it('that a remote tool failed', async () => {
    const { status: _, output: _found, ...call } = responseItems.mcp_call;
    const failed = { ...call, error: 'unreachable' };
    expect(await rebuilt(failed)).toEqual({ ...call, error: null, status: 'failed' });
  });

  it('what a search is doing that was cut off', async () => {
    const cut = { ...responseItems.web_search_call, status: 'failed' };
    expect(await rebuilt(cut)).toEqual({ ...cut, status: 'searching' });
  });
});

describe('the official client that reads event by event', () => {
  it('gets numbered events and the text', async () => {
    serve(response([message(text('Hello there'))]));
    const events = await allOf(await client.responses.create({ ...asked, stream: true }));
    expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
    const deltas = events.filter((event) => event.type === 'response.output_text.delta');
    expect(deltas.map(({ delta }) => delta)).toEqual(['Hello there']);
    expect((events.at(-1) as { response: { output: Item[] } }).response.output).toHaveLength(1);
  });

  it('gets an error of the provider as its own class', async () => {
    const refused = { ...jsonAnswer({ error: { message: 'bad input' } }), status: 400 };
    server.answer = openaiResponses(refused);
    await expect(client.responses.create({ ...asked, stream: true })).rejects.toBeInstanceOf(
      OpenAI.BadRequestError,
    );
  });
});
