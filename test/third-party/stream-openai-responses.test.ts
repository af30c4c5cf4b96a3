import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openaiResponses } from '../../src/streams/openai-responses.ts';
import { allOf } from '../support/all-of.ts';
import { type AnswerServer, jsonAnswer, startAnswerServer } from '../support/answer-server.ts';

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

const text = (content: string, annotations: object[] = []) => ({
  type: 'output_text',
  text: content,
  annotations,
  logprobs: [],
});
const message = (...content: object[]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content,
});
const citation = { type: 'url_citation', url: 'https://a.example', title: 'a', start_index: 0 };

/** One of each: the client rebuilds what it knows, and throws on events that it does not. */
const items: Record<string, object> = {
  reasoning: {
    id: 'rs_1',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'short' }],
    content: [{ type: 'reasoning_text', text: 'long' }],
    encrypted_content: 'xyz',
  },
  'a message': message(text('Hello', [citation]), text(' there')),
  'a refusal': { ...message({ type: 'refusal', refusal: 'I will not' }), id: 'msg_2' },
  'a function call': {
    id: 'fc_1',
    type: 'function_call',
    call_id: 'call_1',
    name: 'f',
    arguments: '{"a":1}',
    status: 'completed',
  },
  'a custom tool call': {
    id: 'ctc_1',
    type: 'custom_tool_call',
    call_id: 'call_2',
    name: 'sql',
    input: 'select 1',
  },
  'a web search': {
    id: 'ws_1',
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'x' },
  },
  'a remote tool call': {
    id: 'mcp_1',
    type: 'mcp_call',
    server_label: 's',
    name: 'f',
    arguments: '{}',
    output: 'done',
  },
  'a code interpreter call': {
    id: 'ci_1',
    type: 'code_interpreter_call',
    status: 'completed',
    container_id: 'cntr_1',
    code: 'print(1)',
    outputs: null,
  },
};

function serve(json: object): void {
  server.answer = openaiResponses(jsonAnswer(json));
}

/** What the client rebuilds before the last event, which would replace it all. */
async function rebuilt(item: object): Promise<unknown> {
  serve(response([item]));
  const { body } = server.answer;
  const marked = 'event: response.output_item.done';
  server.answer = { ...server.answer, body: body.slice(0, body.indexOf(marked)) };
  const { output } = await client.responses.stream(asked).finalResponse();
  return output[0];
}

describe("the official client's final response is the source of the stream", () => {
  it('with one of every item', async () => {
    const source = response(Object.values(items));
    serve(source);
    const told = await client.responses.stream(asked).finalResponse();
    expect(told).toMatchObject(source);
    expect(told.output).toHaveLength(source.output.length);
    expect(told.output_text).toBe('Hello there');
  });

  it.each([
    ['incomplete', { incomplete_details: { reason: 'max_output_tokens' } }],
    ['failed', { error: { code: 'server_error', message: 'no' } }],
  ])('when it is %s', async (status, details) => {
    const source = response([message(text('Hel'))], { status, ...details });
    serve(source);
    expect(await client.responses.stream(asked).finalResponse()).toMatchObject(source);
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
  it.each(Object.entries(items))('%s', async (_what, item) => {
    const finished = 'status' in item ? { ...item, status: 'in_progress' } : item;
    expect(await rebuilt(item)).toMatchObject(finished);
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
