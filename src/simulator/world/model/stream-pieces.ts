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
