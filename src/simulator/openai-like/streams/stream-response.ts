import type { JsonObject } from '../../server/json.ts';
import { halves, listOf, typedEvents } from '../../world/model/stream-pieces.ts';

/** A response told as server-sent events. */
export function streamResponse(answer: JsonObject): string {
  const unfinished = { ...answer, status: 'in_progress', output: [], usage: null };
  const events: JsonObject[] = [
    { type: 'response.created', response: unfinished },
    { type: 'response.in_progress', response: unfinished },
    ...listOf(answer.output).flatMap(tellItem),
    { type: 'response.completed', response: answer },
  ];
  return typedEvents(events.map((event, index) => ({ ...event, sequence_number: index })));
}

function tellItem(item: JsonObject, index: number): JsonObject[] {
  const isCall = item.type === 'function_call';
  const open = {
    ...item,
    status: 'in_progress',
    ...(isCall ? { arguments: '' } : { content: [] }),
  };
  const at = { item_id: item.id, output_index: index };
  return [
    { type: 'response.output_item.added', output_index: index, item: open },
    ...(isCall ? tellArguments(item, at) : listOf(item.content).flatMap(tellPartAt(at))),
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

function tellArguments(item: JsonObject, at: JsonObject): JsonObject[] {
  const whole = String(item.arguments ?? '');
  const type = 'response.function_call_arguments';
  return [
    ...halves(whole).map((delta) => ({ type: `${type}.delta`, ...at, delta })),
    { type: `${type}.done`, ...at, name: item.name, arguments: whole },
  ];
}

function tellPartAt(place: JsonObject) {
  return (part: JsonObject, index: number): JsonObject[] => {
    const at = { ...place, content_index: index };
    const text = String(part.text ?? '');
    const type = 'response.output_text';
    return [
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
      ...halves(text).map((delta) => ({ type: `${type}.delta`, ...at, delta, logprobs: [] })),
      { type: `${type}.done`, ...at, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part },
    ];
  };
}
