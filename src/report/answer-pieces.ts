import type { Answer } from '../types.ts';

/** Shorter ones turn up by chance. */
const shortest = 12;
const longest = 40;
/** Of larger texts it is not worth the time. */
const mostText = 100_000;
/** Where providers keep what a model has said, and the ids by which one goes on from there. */
const telling = new Set(['content', 'text', 'arguments', 'id', 'call_id']);

/**
 * Pieces of an answer by which another call can be known to build on it, as they would stand in its
 * body: of the longest text, and its id.
 */
export function piecesOf(answer: Answer): string[] {
  if (answer.status >= 400 || answer.body.length > mostText) return [];
  const found: string[] = [];
  const json = answer.json ?? parse(answer.body);
  collect(json, false, found);
  const longestText = found.reduce((long, text) => (text.length > long.length ? text : long), '');
  const { id } = (json ?? {}) as { id?: unknown };
  return [...new Set([longestText, id])]
    .filter((text): text is string => typeof text === 'string' && text.length >= shortest)
    .map((text) => JSON.stringify(middleOf(text)).slice(1, -1));
}

/** Whether a body holds one of them. Of a large one the end is looked at: what is new stands there. */
export function holdsOneOf(body: string, pieces: readonly string[]): boolean {
  const text = body.length > mostText ? body.slice(-mostText) : body;
  return pieces.some((piece) => text.includes(piece));
}

function collect(value: unknown, isTelling: boolean, found: string[]): void {
  if (typeof value === 'string') {
    if (isTelling && value.length >= shortest) found.push(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      // Elements of a list are what the list is.
      collect(inner, Array.isArray(value) ? isTelling : telling.has(key), found);
    }
  }
}

function middleOf(text: string): string {
  const from = Math.max(0, Math.floor((text.length - longest) / 2));
  return text.slice(from, from + longest);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
