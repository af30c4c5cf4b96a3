import { describe, expect, it } from 'vitest';
import { openaiResponses } from './openai-responses.ts';
import { answerOf, eventsOf } from './read-events.test-helper.ts';

const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  completed_at: 9,
  error: null,
  incomplete_details: null,
  model: 'gpt-test',
  output: [] as object[],
  usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
};

function events(json: object) {
  return eventsOf(openaiResponses(answerOf(json))).map(({ name, data }, at) => {
    const { sequence_number: number, ...event } = data as Record<string, unknown>;
    expect(name).toBe(event.type);
    expect(number).toBe(at);
    return event;
  });
}

/** The events of one item, without where it stands. */
function told(item: object) {
  return events({ ...response, output: [item] })
    .slice(2, -1)
    .map(({ item_id: id, output_index: index, ...event }) => {
      expect(index).toBe(0);
      return event;
    });
}

describe('a response as events', () => {
  it('starts empty and ends whole', () => {
    const unfinished = { ...response, status: 'in_progress', usage: null, completed_at: null };
    expect(events(response)).toEqual([
      { type: 'response.created', response: unfinished },
      { type: 'response.in_progress', response: unfinished },
      { type: 'response.completed', response },
    ]);
  });

  it.each([
    ['completed', 'response.completed'],
    ['incomplete', 'response.incomplete'],
    ['failed', 'response.failed'],
  ])('that is %s ends with %s, which its start does not know', (status, type) => {
    const details = { error: { code: 'x' }, incomplete_details: { reason: 'y' } };
    const [start, , end] = events({ ...response, ...details, status });
    expect(start?.response).toMatchObject({ error: null, incomplete_details: null });
    expect(end).toMatchObject({ type, response: { status, ...details } });
  });

  it('does not start with the text that some services add', () => {
    const [start] = events({ ...response, output_text: 'hi' });
    expect(start?.response).not.toHaveProperty('output_text');
  });

  it('says of every item where it stands', () => {
    const item = { type: 'function_call', id: 'fc_1', name: 'f', arguments: '{}' };
    const second = events({ ...response, output: [{ type: 'x' }, item] }).slice(4, -1);
    expect(second.map(({ output_index: index }) => index)).toEqual([1, 1, 1, 1]);
    expect(second.map(({ item_id: id }) => id)).toEqual([undefined, 'fc_1', 'fc_1', undefined]);
  });
});

describe('an item as events', () => {
  it('is a message with its texts, annotations and log probabilities', () => {
    const annotation = { type: 'url_citation', url: 'https://example.com' };
    const logprobs = [{ token: 'hi', logprob: -1, top_logprobs: [] }];
    const part = { type: 'output_text', text: 'hi', annotations: [annotation], logprobs };
    const item = { id: 'msg_1', type: 'message', status: 'completed', content: [part] };
    const at = { content_index: 0 };
    expect(told(item)).toEqual([
      {
        type: 'response.output_item.added',
        item: { ...item, status: 'in_progress', content: [] },
      },
      {
        type: 'response.content_part.added',
        ...at,
        part: { ...part, text: '', annotations: [], logprobs: [] },
      },
      { type: 'response.output_text.delta', ...at, delta: 'hi', logprobs },
      { type: 'response.output_text.annotation.added', ...at, annotation_index: 0, annotation },
      { type: 'response.output_text.done', ...at, text: 'hi', logprobs },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', item },
    ]);
  });

  it('is a message that refuses', () => {
    const part = { type: 'refusal', refusal: 'no' };
    const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [part] };
    expect(told(item).slice(1, -1)).toEqual([
      { type: 'response.content_part.added', content_index: 0, part: { ...part, refusal: '' } },
      { type: 'response.refusal.delta', content_index: 0, delta: 'no' },
      { type: 'response.refusal.done', content_index: 0, refusal: 'no' },
      { type: 'response.content_part.done', content_index: 0, part },
    ]);
  });

  it('is reasoning with its summary and its text', () => {
    const summary = { type: 'summary_text', text: 'short' };
    const content = { type: 'reasoning_text', text: 'long' };
    const item = { id: 'rs_1', type: 'reasoning', summary: [summary], content: [content] };
    const first = { summary_index: 0 };
    const at = { content_index: 0 };
    expect(told(item)).toEqual([
      { type: 'response.output_item.added', item: { ...item, summary: [], content: [] } },
      {
        type: 'response.reasoning_summary_part.added',
        ...first,
        part: { type: 'summary_text', text: '' },
      },
      { type: 'response.reasoning_summary_text.delta', ...first, delta: 'short' },
      { type: 'response.reasoning_summary_text.done', ...first, text: 'short' },
      { type: 'response.reasoning_summary_part.done', ...first, part: summary },
      {
        type: 'response.content_part.added',
        ...at,
        part: { type: 'reasoning_text', text: '' },
      },
      { type: 'response.reasoning_text.delta', ...at, delta: 'long' },
      { type: 'response.reasoning_text.done', ...at, text: 'long' },
      { type: 'response.content_part.done', ...at, part: content },
      { type: 'response.output_item.done', item },
    ]);
  });

  it.each([
    ['function_call', 'arguments', 'response.function_call_arguments', { name: 'f' }],
    ['custom_tool_call', 'input', 'response.custom_tool_call_input', {}],
  ])('is a %s with its %s', (type, field, event, named) => {
    const item = { id: 'x_1', type, name: 'f', [field]: 'a long text' };
    expect(told(item)).toEqual([
      { type: 'response.output_item.added', item: { ...item, [field]: '' } },
      { type: `${event}.delta`, delta: 'a long text' },
      { type: `${event}.done`, ...named, [field]: 'a long text' },
      { type: 'response.output_item.done', item },
    ]);
  });

  it.each([
    ['web_search_call', ['in_progress', 'searching', 'completed']],
    ['file_search_call', ['in_progress', 'searching', 'completed']],
    ['image_generation_call', ['in_progress', 'generating', 'completed']],
    ['mcp_list_tools', ['in_progress', 'completed']],
  ])('is a %s with what it goes through', (type, steps) => {
    expect(told({ id: 'x_1', type }).map((event) => event.type)).toEqual([
      'response.output_item.added',
      ...steps.map((step) => `response.${type}.${step}`),
      'response.output_item.done',
    ]);
  });

  it.each([
    ['mcp_call', 'arguments', 'response.mcp_call_arguments', ['completed']],
    [
      'code_interpreter_call',
      'code',
      'response.code_interpreter_call_code',
      ['interpreting', 'completed'],
    ],
  ])('is a %s that has its %s before it runs', (type, field, event, steps) => {
    const item = { id: 'x_1', type, [field]: 'a long text' };
    expect(told(item)).toEqual([
      { type: 'response.output_item.added', item: { ...item, [field]: '' } },
      { type: `response.${type}.in_progress` },
      { type: `${event}.delta`, delta: 'a long text' },
      { type: `${event}.done`, [field]: 'a long text' },
      ...steps.map((step) => ({ type: `response.${type}.${step}` })),
      { type: 'response.output_item.done', item },
    ]);
  });

  it.each([
    [{ type: 'mcp_call', error: 'no' }, ['in_progress', 'failed']],
    [{ type: 'mcp_list_tools', error: 'no' }, ['in_progress', 'failed']],
    [{ type: 'mcp_call', status: 'incomplete' }, ['in_progress']],
    [{ type: 'web_search_call', status: 'failed' }, ['in_progress', 'searching']],
    [{ type: 'code_interpreter_call', code: null }, ['in_progress', 'interpreting', 'completed']],
  ])('is %j with the end it came to', (item, steps) => {
    const names = told(item).slice(1, -1);
    expect(names.map((event) => event.type)).toEqual(
      steps.map((step) => `response.${item.type}.${step}`),
    );
  });

  it('does not start with what a tool brought later', () => {
    const result = { type: 'image_generation_call', status: 'completed', result: 'iVBO' };
    const [start] = told(result);
    expect(start?.item).toEqual({ ...result, status: 'in_progress', result: null });
  });

  it.each([
    { id: 'new_1', type: 'something_new', content: [{ type: 'output_text', text: 'x' }] },
    { id: 'new_2', type: 'shell_call_output', status: 'completed' },
    { id: 'new_3', type: 'constructor', status: 'completed' },
  ])('is whole from the start where there is nothing to add: $type', (item) => {
    expect(told(item)).toEqual([
      { type: 'response.output_item.added', item },
      { type: 'response.output_item.done', item },
    ]);
  });
});
