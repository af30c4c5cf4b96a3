import { isObject, type JsonObject } from '../../server/json.ts';
import { bareEvents, halves, listOf } from '../../world/model/stream-pieces.ts';

/** A chat completion told as server-sent events. */
export function streamChat(answer: JsonObject, request: JsonObject): string {
  const { usage, choices, ...common } = answer;
  const wantsUsage = isObject(request.stream_options) && request.stream_options.include_usage;
  const events: unknown[] = [];
  const push = (index: unknown, delta: object, reason: unknown) => {
    const choice = { index, delta, logprobs: null, finish_reason: reason };
    events.push({
      ...common,
      object: 'chat.completion.chunk',
      choices: [choice],
      ...(wantsUsage ? { usage: null } : {}),
    });
  };
  for (const { index = 0, message, finish_reason: reason = 'stop' } of listOf(choices)) {
    const { content, tool_calls: calls } = isObject(message) ? message : {};
    const said = typeof content === 'string' ? content : null;
    push(index, { role: 'assistant', content: said === null ? null : '', refusal: null }, null);
    for (const piece of said === null ? [] : halves(said)) push(index, { content: piece }, null);
    for (const delta of listOf(calls).flatMap(tellCall)) push(index, { tool_calls: [delta] }, null);
    push(index, {}, reason);
  }
  if (wantsUsage) {
    events.push({ ...common, object: 'chat.completion.chunk', choices: [], usage });
  }
  return bareEvents(events);
}

/** The call as it is announced, then its arguments in pieces. */
function tellCall(call: JsonObject, index: number): JsonObject[] {
  const called = isObject(call.function) ? call.function : {};
  const pieces = halves(String(called.arguments ?? ''));
  return [
    { ...call, index, function: { ...called, arguments: '' } },
    ...pieces.map((piece) => ({ index, function: { arguments: piece } })),
  ];
}
