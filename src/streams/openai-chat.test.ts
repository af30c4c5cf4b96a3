import { describe, expect, it } from 'vitest';
import { openaiChat } from './openai-chat.ts';
import { answerOf, eventsOf } from './read-events.test-helper.ts';

const common = { id: 'chatcmpl-1', created: 7, model: 'gpt-test', service_tier: 'default' };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const opening = { role: 'assistant', content: '', refusal: null };

function completion(...choices: object[]) {
  const numbered = choices.map((choice, index) => ({ index, finish_reason: 'stop', ...choice }));
  return { ...common, object: 'chat.completion', choices: numbered, usage };
}

function chunks(json: object, includeUsage = false): unknown[] {
  const told = eventsOf(openaiChat({ includeUsage })(answerOf(json)));
  expect(told.every(({ name }) => name === undefined)).toBe(true);
  expect(told.at(-1)?.data).toBe('[DONE]');
  return told.slice(0, -1).map(({ data }) => data);
}

/** The choices of all chunks, one after the other. */
function parts(json: object) {
  return chunks(json).flatMap((chunk) => (chunk as { choices: { delta: unknown }[] }).choices);
}

const deltas = (message: object) => parts(completion({ message })).map(({ delta }) => delta);

describe('a chat completion as chunks', () => {
  it('tells the role, the text and the end, each with the facts of the whole', () => {
    const chunk = { ...common, object: 'chat.completion.chunk' };
    const part = { index: 0, logprobs: null, finish_reason: null };
    expect(chunks(completion({ message: { role: 'assistant', content: 'hi' } }))).toEqual([
      { ...chunk, choices: [{ ...part, delta: opening }] },
      { ...chunk, choices: [{ ...part, delta: { content: 'hi' } }] },
      { ...chunk, choices: [{ ...part, delta: {}, finish_reason: 'stop' }] },
    ]);
  });

  it('tells the usage in a last chunk, only where it was asked for', () => {
    const json = completion({ message: { role: 'assistant', content: 'hi' } });
    const told = chunks(json, true) as { usage: unknown; choices: unknown[] }[];
    expect(told.map((chunk) => chunk.usage)).toEqual([null, null, null, usage]);
    expect(told.at(-1)?.choices).toEqual([]);
    for (const chunk of chunks(json)) expect(chunk).not.toHaveProperty('usage');
  });

  it('tells one choice after the other under its own index', () => {
    const json = completion(
      { message: { role: 'assistant', content: 'a' } },
      { message: { role: 'assistant', content: 'b' }, finish_reason: 'length' },
    );
    expect(parts(json)).toMatchObject([
      { index: 0, delta: opening },
      { index: 0, delta: { content: 'a' } },
      { index: 0, finish_reason: 'stop' },
      { index: 1, delta: opening },
      { index: 1, delta: { content: 'b' } },
      { index: 1, finish_reason: 'length' },
    ]);
  });

  it('tells a tool call by its name, then its arguments', () => {
    const one = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    const two = { id: 'call_2', type: 'function', function: { name: 'g', arguments: '' } };
    const message = { role: 'assistant', content: null, tool_calls: [one, two] };
    expect(deltas(message)).toEqual([
      { ...opening, content: null },
      { tool_calls: [{ index: 0, ...one, function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
      { tool_calls: [{ index: 1, ...two, function: { name: 'g', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '' } }] },
      {},
    ]);
  });

  it('tells the call of a custom tool in one piece', () => {
    const call = { id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'select 1' } };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    expect(deltas(message)[1]).toEqual({ tool_calls: [{ index: 0, ...call }] });
  });

  it('tells a refusal', () => {
    expect(deltas({ role: 'assistant', content: null, refusal: 'no' })).toEqual([
      { ...opening, content: null },
      { refusal: 'no' },
      {},
    ]);
  });

  it('takes other fields of the message along with the role', () => {
    const rest = { reasoning_content: 'hm', annotations: [{ type: 'url_citation' }] };
    expect(deltas({ role: 'assistant', content: 'hi', ...rest })[0]).toEqual({
      ...opening,
      ...rest,
    });
  });

  it('takes other fields of a choice along with its end', () => {
    const message = { role: 'assistant', content: 'hi' };
    const told = parts(completion({ message, content_filter_results: { hate: {} } }));
    expect(told.filter((part) => 'content_filter_results' in part)).toEqual([told.at(-1)]);
  });

  it.each([
    ['a text', { role: 'assistant', content: 'hi' }],
    ['no text', { role: 'assistant', content: '' }],
    ['a refusal', { role: 'assistant', content: null, refusal: 'no' }],
  ])('tells the log probabilities exactly once, with %s', (_what, message) => {
    const logprobs = { content: [{ token: 'hi', logprob: -1 }], refusal: null };
    const told = parts(completion({ message, logprobs })) as { logprobs?: unknown }[];
    expect(told.filter((part) => part.logprobs).map((part) => part.logprobs)).toEqual([logprobs]);
  });

  it('tells what came instead of choices, such as an error', () => {
    expect(chunks({ error: { message: 'overloaded' } })).toEqual([
      { error: { message: 'overloaded' }, object: 'chat.completion.chunk', choices: [] },
    ]);
  });
});
