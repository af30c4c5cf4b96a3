import type { Answer } from '../../base/types.ts';
import { shorten } from './text-table.ts';

const longest = 200;

/** What an answer that is an error says, in the words of the provider. */
export function errorText({ body }: Answer): string {
  return shorten(messageIn(parsed(body)) ?? body, longest);
}

function messageIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const { error, message } = value as { error?: unknown; message?: unknown };
  return typeof message === 'string' ? message : messageIn(error);
}

/** The body as it stands in a line of JSON: as it came where it is JSON, otherwise as text. */
export function inlineBody(body: string): string {
  if (parsed(body) === undefined) return JSON.stringify(body);
  // Line ends can only stand between the tokens of JSON. Printing it again would change large numbers.
  return body.replace(/[\r\n]+/g, ' ').trim();
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
