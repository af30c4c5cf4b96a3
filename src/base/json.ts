/** JSON from outside is read leniently: only what is needed, and what is not there is empty. Nothing here throws. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A text as JSON; `undefined` where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object that a text holds; `undefined` for anything else, JSON or not. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Reads a field of an unknown value. */
export function field(value: unknown, name: string): unknown {
  return fields(value)[name];
}

const none = {};

/** The same for several, by name: what is read of every line is read faster so. */
export function fields(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : none;
}

/** A string that says something; providers write "nothing" as null, as "" or not at all. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

/** No object, or one without members: an "answer" that has been seen in the wild. */
export function isEmpty(json: unknown): boolean {
  for (const _ in fields(json)) return false;
  return true;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Unlike with `fields`, a list is no object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : none;
}

/** What is no list counts as an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Neither missing nor null. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}
