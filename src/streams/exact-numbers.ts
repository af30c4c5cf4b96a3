import { randomUUID } from 'node:crypto';

/** JavaScript keeps fewer digits than that of some integers, and all digits of shorter ones. */
const longInteger = /^-?\d{16,}$/;
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * What `tell` makes of the JSON in `body`, with every digit of its integers: ids of 19 digits are not rare
 * in the inputs of tools. While `tell` works they are texts with a mark, which stand alone or in JSON that is
 * itself a text.
 */
export function withExactNumbers(
  body: string,
  json: unknown,
  tell: (json: unknown) => string,
): string {
  if (!/\d{16}/.test(body)) return tell(json);
  const mark = `batchling-${randomUUID()}:`;
  const marked = body.replace(stringOrNumber, (token) =>
    longInteger.test(token) && String(Number(token)) !== token ? `"${mark}${token}"` : token,
  );
  if (marked === body) return tell(json);
  return tell(JSON.parse(marked)).replace(new RegExp(`(\\\\*)"${mark}(-?\\d+)\\1"`, 'g'), '$2');
}
