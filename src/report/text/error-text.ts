import { parseJson } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';

const longest = 200;

/** What an answer that is an error says, in the words of the provider. */
export function errorText({ body }: Answer): string {
  const plain = (messageIn(parseJson(body)) ?? body).replace(/\s+/g, ' ').trim();
  return plain.length <= longest ? plain : `${plain.slice(0, longest - 1)}…`;
}

function messageIn(value: unknown): string | undefined {
  let inner = value;
  // A loop: errors in errors may lie deeper than functions can call each other.
  while (typeof inner === 'object' && inner !== null) {
    const { error, message } = inner as { error?: unknown; message?: unknown };
    if (typeof message === 'string') return message;
    inner = error;
  }
  return typeof inner === 'string' ? inner : undefined;
}

/** What errors that differ in ids and numbers only have in common. */
export function errorKind(status: number, message: string): string {
  return `${status} ${message.replace(/[\w-]*\d[\w-]*/g, '#')}`;
}
