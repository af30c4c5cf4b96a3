/**
 * JSON as text. Bodies are spliced, never re-serialised: parsing and printing again would change
 * numbers beyond 2^53 and the order of integer-like keys, and with them the answer.
 * All functions expect text that `JSON.parse` has accepted.
 */

/** The same JSON on one line. Inside strings a raw line break is illegal, so all of them are space. */
export function onOneLine(text: string): string {
  return text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, ' ') : text;
}

interface MemberSpan {
  readonly key: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** The members of the object that `text` holds, without looking into their values. */
function* members(text: string): Generator<MemberSpan> {
  let at = text.indexOf('{') + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] === '}' || at >= text.length) return;
    const start = at;
    const keyEnd = endOfString(text, at);
    const quoted = text.slice(at, keyEnd);
    const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = endOfValue(text, valueStart);
    yield { key, start, valueStart, end };
    at = skipSpace(text, end);
    if (text[at] === ',') at += 1;
  }
}

/** The object without these top-level members; everything else stays byte for byte. */
export function withoutMembers(text: string, keys: ReadonlySet<string>): string {
  const kept: string[] = [];
  for (const member of members(text)) {
    if (!keys.has(member.key)) kept.push(text.slice(member.start, member.end));
  }
  return `{${kept.join(',')}}`;
}

/** The object with this top-level member set to this JSON, in its place; the rest stays byte for byte. */
export function withMember(text: string, key: string, valueText: string): string {
  const pair = `${JSON.stringify(key)}:${valueText}`;
  const all = [...members(text)];
  const last = all.findLast((member) => member.key === key);
  const kept = all.filter((member) => member === last || member.key !== key);
  const texts = kept.map((member) =>
    member === last ? pair : text.slice(member.start, member.end),
  );
  return `{${(last === undefined ? [...texts, pair] : texts).join(',')}}`;
}

/** The text of one top-level member's value. The last one wins, as with `JSON.parse`. */
export function memberText(text: string, key: string): string | undefined {
  let found: string | undefined;
  for (const member of members(text)) {
    if (member.key === key) found = text.slice(member.valueStart, member.end);
  }
  return found;
}

/**
 * The texts of the elements of the array that `text` holds.
 *
 * @example
 * elementTexts('[1.0, {"a": "]"}]'); // ['1.0', '{"a": "]"}']
 */
export function elementTexts(text: string): string[] {
  const texts: string[] = [];
  let at = text.indexOf('[') + 1;
  for (;;) {
    at = skipSpace(text, at);
    if (text[at] === ']' || at >= text.length) return texts;
    const end = endOfValue(text, at);
    texts.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at += 1;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) break;
    at += 1;
  }
  return at;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text[quote - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function endOfValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return endOfString(text, from);
  if (first !== '{' && first !== '[') {
    let at = from;
    while (at < text.length && !',}] \n\r\t'.includes(text[at] as string)) at += 1;
    return at;
  }
  let depth = 0;
  structure.lastIndex = from;
  while (structure.test(text)) {
    const at = structure.lastIndex;
    const char = text[at - 1];
    if (char === '"') structure.lastIndex = endOfString(text, at - 1);
    else if (char === '{' || char === '[') depth += 1;
    else {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return text.length;
}

/** Everything else is passed over by the search, which is much faster than a look at each character. */
const structure = /["{}[\]]/g;
