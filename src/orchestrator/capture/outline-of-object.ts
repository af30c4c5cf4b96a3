/**
 * The top level of a JSON object whose text may be cut off anywhere: strings as they stand there, lists
 * and objects as empty ones, everything else as `null`. That is enough to tell what a body is for.
 * `undefined`: not an object.
 */
export function outlineOfObject(text: string): Record<string, unknown> | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const outline: Record<string, unknown> = Object.create(null);
  let depth = 0;
  let key: string | undefined;
  const note = (value: unknown) => {
    if (depth === 1 && key !== undefined) outline[key] = value;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      const value = text.slice(at + 1, end);
      if (depth === 1 && key === undefined) key = value;
      else note(value);
      at = end;
    } else if (character === ':') note(null);
    else if (character === ',' && depth === 1) key = undefined;
    else if (character === '{' || character === '[') {
      note(character === '[' ? [] : {});
      depth += 1;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return outline;
}

function endOfString(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end < 0) return text.length;
  } while (isEscaped(text, end));
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
}
