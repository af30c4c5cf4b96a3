import { isObject } from '../../base/json.ts';
import { parseShallow } from './parse-shallow.ts';
import { readAnswer } from './read-answer.ts';
import { readQuestion } from './read-question.ts';

/** A piece of a message. */
export type Part =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  /** Bytes that are not shown: `image/png, 34 KB`. */
  | { readonly kind: 'media'; readonly label: string }
  | { readonly kind: 'call'; readonly name: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly name: string; readonly parts: readonly Part[] }
  | { readonly kind: 'json'; readonly value: unknown };

export interface Message {
  readonly role: string;
  readonly parts: readonly Part[];
}

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly schema?: unknown;
}

/** A question or an answer as people read it. */
export interface Readable {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  /** What else stands in it, such as the temperature or the usage. */
  readonly settings: readonly (readonly [name: string, value: unknown])[];
}

/** `undefined`: it is no JSON object of a form that is known; the raw text is all there is. */
export function readable(kind: 'question' | 'answer', text: string): Readable | undefined {
  const json = parseShallow(text);
  if (!isObject(json)) return undefined;
  try {
    return (kind === 'question' ? readQuestion : readAnswer)(json);
  } catch {
    // A model can write values that cannot even be made a text, such as `{"toString": 1}` for a name.
    return undefined;
  }
}

/** The words of a question or an answer: of all its messages, or of the last one. */
export function wordsOf(
  kind: 'question' | 'answer',
  text: string,
  part: 'all' | 'last' = 'all',
): string {
  const all = readable(kind, text)?.messages ?? [];
  const messages = part === 'last' ? all.slice(-1) : all;
  const words = messages.flatMap(({ parts }) => parts.map(wordsOfPart)).filter(Boolean);
  return words.length > 0 ? words.join(' ') : text;
}

function wordsOfPart(part: Part): string {
  switch (part.kind) {
    case 'text':
    case 'thinking':
      return part.text;
    case 'media':
      return `[${part.label}]`;
    case 'call':
      return `${part.name}(${JSON.stringify(part.input)})`;
    case 'result':
      return part.parts.map(wordsOfPart).join(' ');
    case 'json':
      return JSON.stringify(part.value);
  }
}
