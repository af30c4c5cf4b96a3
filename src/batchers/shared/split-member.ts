const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** Elements that one chunk completes, and at the end the object without them. */
export type MemberPiece = { readonly elements: readonly string[] } | { readonly rest: string };

/**
 * Reads a JSON object whose array member may be larger than memory: its elements are cut out as text while the bytes
 * come, and the object is told at the end with an empty array in their place. Structure is ASCII in UTF-8, so that
 * single bytes decide. Text that is no JSON has no elements, and all of it is the rest.
 *
 * @example
 * for await (const piece of splitMember(reply.bytes(), 'results')) {
 *   if ('elements' in piece) yield piece.elements.map(readLine);
 * }
 */
export async function* splitMember(
  chunks: AsyncIterable<Uint8Array>,
  member: string,
): AsyncGenerator<MemberPiece> {
  const key = JSON.stringify(member);
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  /** Where the array of the member is: not met, announced by its key, open, over. */
  let array: 'ahead' | 'named' | 'open' | 'over' = 'ahead';
  let rest: Buffer[] = [];
  let element: Buffer[] = [];

  for await (const given of chunks) {
    const chunk = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    const elements: string[] = [];
    /** Where the part begins that is neither told nor kept yet. */
    let start = 0;
    const keep = (end: number) => {
      const part = chunk.subarray(start, end);
      start = end;
      (array === 'open' ? element : rest).push(part);
    };
    const endElement = (end: number) => {
      keep(end);
      const text = Buffer.concat(element).toString().trim();
      element = [];
      if (text !== '') elements.push(text);
    };

    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isText = false;
        continue;
      }
      if (byte <= 0x20) continue;
      const wasNamed = array === 'named';
      if (wasNamed) array = 'ahead';
      if (byte === quote) {
        isText = true;
      } else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        if (wasNamed && byte === openBracket) {
          keep(at + 1);
          array = 'open';
        }
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (array === 'open' && depth === 1) {
          endElement(at);
          array = 'over';
        }
      } else if (byte === comma && array === 'open' && depth === 2) {
        endElement(at);
        start = at + 1;
      } else if (byte === colon && array === 'ahead' && depth === 1) {
        keep(at);
        rest = [Buffer.concat(rest)];
        if (String(rest[0]).trimEnd().endsWith(key)) array = 'named';
      }
    }
    keep(chunk.length);
    if (elements.length > 0) yield { elements };
  }
  yield { rest: Buffer.concat(rest).toString() };
}
