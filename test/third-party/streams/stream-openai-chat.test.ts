import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openaiChat } from '../../../src/streams/openai-chat.ts';
import { allOf } from '../../support/all-of.ts';
import fc from '../../support/fast-check.ts';
import {
  type AnswerServer,
  jsonAnswer,
  startAnswerServer,
} from '../../support/servers/answer-server.ts';

type Completion = OpenAI.ChatCompletion;
type Choice = Completion['choices'][number];

let server: AnswerServer;
let client: OpenAI;

beforeAll(async () => {
  server = await startAnswerServer();
  client = new OpenAI({ apiKey: 'sk-test-key', baseURL: server.url, maxRetries: 0 });
});
afterAll(() => server.close());

const usage = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 };
const asked = { model: 'gpt-test', messages: [{ role: 'user' as const, content: 'hello' }] };

function message(change: object = {}): Choice['message'] {
  return { role: 'assistant', content: 'Hello there', refusal: null, ...change };
}

function choice(change: Partial<Choice> = {}): Choice {
  return { index: 0, message: message(), logprobs: null, finish_reason: 'stop', ...change };
}

function completion(...choices: Choice[]): Completion {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'gpt-test',
    service_tier: 'default',
    system_fingerprint: 'fp_1',
    choices,
    usage,
  };
}

function serve(json: object, includeUsage = true): void {
  server.answer = openaiChat({ includeUsage })(jsonAnswer(json));
}

/** What the SDK makes of the stream; it adds `parsed`, which is null without a schema. */
async function final(json: object): Promise<unknown> {
  serve(json);
  const told = await client.chat.completions.stream(asked).finalChatCompletion();
  for (const { message } of told.choices) {
    expect(message.parsed ?? null).toBeNull();
    delete (message as { parsed?: unknown }).parsed;
    for (const call of message.tool_calls ?? []) {
      delete (call.function as { parsed_arguments?: unknown }).parsed_arguments;
    }
  }
  return told;
}

function toolCall(name: string, given: string) {
  return { id: `call_${name}`, type: 'function' as const, function: { name, arguments: given } };
}

const url_citation = { url: 'https://a.example', title: 'a', start_index: 0, end_index: 5 };
const token = (text: string) => ({ token: text, logprob: -0.5, bytes: [1], top_logprobs: [] });

describe("the official client's final completion is the source of the stream", () => {
  it.each<[string, Completion]>([
    ['a text', completion(choice())],
    [
      'two choices',
      completion(
        choice(),
        choice({ index: 1, message: message({ content: 'Hi' }), finish_reason: 'length' }),
      ),
    ],
    [
      'two tool calls',
      completion(
        choice({
          message: message({
            content: null,
            tool_calls: [toolCall('one', '{"a":"ü\\n"}'), toolCall('two', '')],
          }),
          finish_reason: 'tool_calls',
        }),
      ),
    ],
    [
      'a text and a tool call',
      completion(choice({ message: message({ tool_calls: [toolCall('one', '{}')] }) })),
    ],
    [
      'a refusal with its log probabilities',
      completion(
        choice({
          message: message({ content: null, refusal: 'I will not' }),
          logprobs: { content: null, refusal: [token('I'), token(' will not')] },
        }),
      ),
    ],
    [
      'log probabilities',
      completion(
        choice({ logprobs: { content: [token('Hello'), token(' there')], refusal: null } }),
      ),
    ],
    [
      'annotations',
      completion(
        choice({ message: message({ annotations: [{ type: 'url_citation', url_citation }] }) }),
      ),
    ],
    [
      'a voice',
      completion(
        choice({
          message: message({
            content: null,
            audio: {
              id: 'audio_1',
              data: 'UklGRg==',
              transcript: 'Hello',
              expires_at: 1_800_000_000,
            },
          }),
        }),
      ),
    ],
    [
      'no tool calls of those it may make',
      completion(choice({ message: message({ tool_calls: [] }) })),
    ],
    [
      'the call of a function of old',
      completion(
        choice({
          message: message({ content: null, function_call: { name: 'f', arguments: '{"a":1}' } }),
          finish_reason: 'function_call',
        }),
      ),
    ],
    [
      'three choices of different kinds',
      completion(
        choice({ message: message({ content: null, refusal: 'I will not' }) }),
        choice({
          index: 1,
          message: message({ content: null, tool_calls: [toolCall('one', '{}')] }),
          finish_reason: 'tool_calls',
        }),
        choice({ index: 2, logprobs: { content: [token('Hello')], refusal: null } }),
      ),
    ],
    [
      'details of its usage',
      {
        ...completion(choice()),
        usage: {
          ...usage,
          prompt_tokens_details: { cached_tokens: 1, audio_tokens: 0 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
      },
    ],
    [
      'fields the dialect knows nothing of',
      completion(choice({ message: message({ annotations: [], reasoning_content: 'hm' }) })),
    ],
  ])('with %s', async (_what, source) => {
    expect(await final(source)).toEqual(source);
  });

  it('without its usage where that was not asked for', async () => {
    const source = completion(choice());
    serve(source, false);
    const told = await client.chat.completions.stream(asked).finalChatCompletion();
    expect(told).not.toHaveProperty('usage');
    expect(told.choices[0]?.message.content).toBe('Hello there');
  });

  it('whatever the text', async () => {
    const text = fc.string({ unit: 'binary' });
    await fc.assert(
      fc.asyncProperty(fc.option(text), fc.array(text), async (content, given) => {
        const calls = given.map((one, index) => toolCall(`f${index}`, JSON.stringify({ one })));
        const tools = calls.length > 0 ? { tool_calls: calls } : {};
        const source = completion(choice({ message: message({ content, ...tools }) }));
        // Some clients make no difference between no text and an empty one, in any stream.
        const told = JSON.parse(JSON.stringify(await final(source))) as typeof source;
        const same = (one: object) =>
          JSON.parse(JSON.stringify(one).replace('"content":""', '"content":null'));
        expect(same(told)).toEqual(same(source));
      }),
      { numRuns: 50 },
    );
  });
});

describe('the official client that reads chunk by chunk', () => {
  it('gets the text, the reason and the usage', async () => {
    serve(completion(choice()));
    const chunks = await allOf(await client.chat.completions.create({ ...asked, stream: true }));
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(text).toBe('Hello there');
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason)).toContain('stop');
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['chatcmpl-1']));
    expect(chunks.at(-1)?.usage).toEqual(usage);
  });

  it('gets the input of a custom tool', async () => {
    const call = { id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'select 1' } };
    serve(completion(choice({ message: message({ content: null, tool_calls: [call] }) })));
    const chunks = await allOf(await client.chat.completions.create({ ...asked, stream: true }));
    const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
    expect(calls).toEqual([{ index: 0, ...call }]);
  });

  it('gets no wrong call of a custom tool from its own accumulator', async () => {
    const call = { id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'select 1' } };
    const source = completion(choice({ message: message({ content: null, tool_calls: [call] }) }));
    // Versions 6 and 7 know functions only, whoever has sent the stream, and throw.
    const told = await final(source).catch((error: unknown) => error);
    if (!(told instanceof Error)) expect(told).toMatchObject(source);
  });

  it('throws where a success holds an error', async () => {
    serve({ error: { message: 'overloaded', type: 'server_error' } });
    const reading = client.chat.completions.create({ ...asked, stream: true }).then(allOf);
    await expect(reading).rejects.toThrow(/overloaded/);
  });

  it('gets an error of the provider as its own class', async () => {
    const refused = { ...jsonAnswer({ error: { message: 'no such model' } }), status: 404 };
    server.answer = openaiChat({ includeUsage: false })(refused);
    await expect(client.chat.completions.create({ ...asked, stream: true })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });
});
