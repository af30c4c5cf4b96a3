import { isObject, type JsonObject } from '../../server/json.ts';

/** A text in two pieces: the least that shows whether a client puts pieces together. */
export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** The objects of a list; an answer function may have left the list out. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Server-sent events as OpenAI writes them: without names, and with a last one that is no JSON. */
export function bareEvents(events: readonly unknown[]): string {
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
}

/** Server-sent events that are named by their type. */
export function typedEvents(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}
