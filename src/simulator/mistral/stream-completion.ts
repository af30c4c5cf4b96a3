import { isObject, type JsonObject } from '../server/json.ts';
import { bareEvents, halves, listOf } from '../world/model/stream-pieces.ts';

/** A completion told as server-sent events; the last of them tells the tokens. */
export function streamCompletion(answer: JsonObject): string {
  const { usage, choices, ...common } = answer;
  const told = listOf(choices).flatMap(tellChoice);
  const events = told.map((choice, at) => ({
    ...common,
    object: 'chat.completion.chunk',
    choices: [choice],
    ...(at === told.length - 1 && { usage }),
  }));
  return bareEvents(events);
}

function tellChoice({ index, message, finish_reason: reason }: JsonObject): JsonObject[] {
  const { content, tool_calls: calls } = isObject(message) ? message : {};
  const deltas = [
    { role: 'assistant', content: '' },
    ...halves(String(content ?? '')).map((piece) => ({ content: piece })),
    { content: '', ...(calls ? { tool_calls: calls } : {}) },
  ];
  return deltas.map((delta, at) => ({
    index,
    delta,
    finish_reason: at === deltas.length - 1 ? reason : null,
  }));
}
