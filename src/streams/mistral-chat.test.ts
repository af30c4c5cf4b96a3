import { expect, it } from 'vitest';
import { mistralChat } from './mistral-chat.ts';
import { answerOf, eventsOf } from './read-events.test-helper.ts';

const common = { id: '85bc', created: 7, model: 'mistral-test' };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

function chunks(...choices: object[]): unknown[] {
  const json = { ...common, object: 'chat.completion', usage, choices };
  const told = eventsOf(mistralChat(answerOf(json)));
  expect(told.at(-1)?.data).toBe('[DONE]');
  return told.slice(0, -1).map(({ data }) => data);
}

it('tells the role, the text, and the end with the tokens', () => {
  const chunk = { ...common, object: 'chat.completion.chunk' };
  const message = { role: 'assistant', content: 'hi', tool_calls: null };
  const part = { index: 0, finish_reason: null };
  expect(chunks({ index: 0, message, finish_reason: 'length' })).toEqual([
    { ...chunk, choices: [{ ...part, delta: { role: 'assistant', content: '' } }] },
    { ...chunk, choices: [{ ...part, delta: { content: 'hi' } }] },
    { ...chunk, choices: [{ ...part, delta: { content: '' }, finish_reason: 'length' }], usage },
  ]);
});

it('tells tool calls whole, numbered unless they are', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
  const calls = [call, { ...call, id: 'c2', index: 7 }];
  const told = chunks({ message: { content: '', tool_calls: calls }, finish_reason: 'tool_calls' });
  const delta = { content: '', tool_calls: [{ index: 0, ...call }, calls[1]] };
  expect(told.at(-1)).toMatchObject({ choices: [{ delta, finish_reason: 'tool_calls' }], usage });
});

it('tells one choice after the other, and the tokens once', () => {
  const told = chunks({ message: { content: 'a' } }, { message: { content: 'b' } }) as {
    usage?: object;
    choices: { index: number }[];
  }[];
  expect(told.map(({ choices }) => choices[0]?.index)).toEqual([0, 0, 0, 1, 1, 1]);
  expect(told.map((chunk) => chunk.usage)).toEqual([...Array(5).fill(undefined), usage]);
});

it('hands thoughts on as they are, and tells a completion without a choice', () => {
  const content = [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }];
  expect(chunks({ message: { content } })[1]).toMatchObject({ choices: [{ delta: { content } }] });
  expect(chunks()).toMatchObject([{ choices: [], usage }]);
});
