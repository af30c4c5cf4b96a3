import { inspect } from 'node:util';

/** What `run file:export` prints for the value that the function has returned. */
export function printedValue(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return `${value}\n`;
  return `${asJson(value) ?? inspect(value, { depth: null })}\n`;
}

/** Functions and symbols are undefined in JSON; bigints and circles throw. */
function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return undefined;
  }
}
