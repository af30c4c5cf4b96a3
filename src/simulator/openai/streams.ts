import { isObject, type JsonObject } from '../json.ts';

type Stream = (answer: JsonObject, request: JsonObject) => string;

/** By endpoint: the same answer told as server-sent events. */
export const streams: Record<string, Stream> = {
  '/v1/chat/completions': streamChat,
  '/v1/responses': streamResponse,
};

function streamChat(answer: JsonObject, request: JsonObject): string {
  const { usage, choices, ...common } = answer;
  const wantsUsage = isObject(request.stream_options) && request.stream_options.include_usage;
  const events: unknown[] = [];
  const push = (index: number, delta: object, reason: string | null) => {
    const choice = { index, delta, logprobs: null, finish_reason: reason };
    events.push({
      ...common,
      object: 'chat.completion.chunk',
      choices: [choice],
      ...(wantsUsage ? { usage: null } : {}),
    });
  };
  for (const { index, message } of choices as Array<{
    index: number;
    message: { content: string };
  }>) {
    push(index, { role: 'assistant', content: '', refusal: null }, null);
    for (const content of halves(message.content)) push(index, { content }, null);
    push(index, {}, 'stop');
  }
  if (wantsUsage) {
    events.push({ ...common, object: 'chat.completion.chunk', choices: [], usage });
  }
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
}

function streamResponse(answer: JsonObject): string {
  const item = (answer.output as JsonObject[])[0] as JsonObject;
  const part = (item.content as JsonObject[])[0] as JsonObject;
  const text = String(part.text);
  const unfinished = { ...answer, status: 'in_progress', output: [], usage: null };
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  const events: JsonObject[] = [
    { type: 'response.created', response: unfinished },
    { type: 'response.in_progress', response: unfinished },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ...halves(text).map((delta) => ({
      type: 'response.output_text.delta',
      ...at,
      delta,
      logprobs: [],
    })),
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: answer },
  ];
  return events
    .map((event, index) => {
      const data = JSON.stringify({ ...event, sequence_number: index });
      return `event: ${event.type}\ndata: ${data}\n\n`;
    })
    .join('');
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
