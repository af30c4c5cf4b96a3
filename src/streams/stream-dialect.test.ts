import { describe, expect, it } from 'vitest';
import type { Answer } from '../base/types.ts';
import { anthropicMessages } from './anthropic.ts';
import { googleEvents } from './google.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import { answerOf } from './read-events.test-helper.ts';
import { streamDialect } from './stream-dialect.ts';

const dialect = streamDialect((json) => `data: ${JSON.stringify(json)}\n\n`);

describe('a dialect', () => {
  it('turns a success into an event stream and keeps the other headers', () => {
    expect(dialect({ ...answerOf({ a: 1 }), json: { a: 1 } })).toEqual({
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_1' },
      body: 'data: {"a":1}\n\n',
    });
  });

  it('does not hand on the parsed body, which is that of the plain answer', () => {
    expect(dialect({ ...answerOf({ a: 1 }), json: { a: 1 } })).not.toHaveProperty('json');
  });

  it('reads the body where nobody has parsed it', () => {
    expect(dialect(answerOf({ b: 2 })).body).toBe('data: {"b":2}\n\n');
    expect(dialect({ ...answerOf({ b: 2 }), json: undefined }).body).toBe('data: {"b":2}\n\n');
  });

  it.each([300, 400, 429, 500])('leaves an answer of status %i as it is', (status) => {
    const answer: Answer = { ...answerOf({ error: { message: 'no' } }), status };
    expect(dialect(answer)).toBe(answer);
  });

  it.each(['', 'not json', '[1]', 'null', '"text"'])('leaves the body %j as it is', (body) => {
    const answer = { ...answerOf({}), body };
    expect(dialect(answer)).toBe(answer);
  });
});

describe('every dialect', () => {
  it.each([
    ['of chats', openaiChat({ includeUsage: true })],
    ['of responses', openaiResponses],
    ['of messages', anthropicMessages],
    ['of contents', googleEvents],
  ])('%s makes a stream of the strangest objects, too', (_name, strange) => {
    for (const json of [
      {},
      { choices: null, output: 'x', content: 7, usage: null },
      { choices: [null, {}], output: [null, {}], content: [null, {}] },
      { choices: [{ message: { tool_calls: [null] } }], output: [{ content: [null] }] },
      { candidates: null, usageMetadata: 7 },
      { candidates: [null, {}, { content: { parts: [null, {}] } }] },
      { output: [{ type: 'message', content: [{}] }, { type: 'function_call' }] },
    ]) {
      expect(strange(answerOf(json)).body).toMatch(/^(event: .*\n)?data: /);
    }
  });
});
