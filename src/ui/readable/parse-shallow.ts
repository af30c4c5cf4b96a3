import { parseJson } from '../../base/json.ts';

/** No question or answer that means something goes deeper; whatever walks through the JSON of one may call itself this often. */
const mostLevels = 100;

/** The value of a text that is JSON. `undefined`: it is none, or lists and objects lie in each other deeper than any reader gets. */
export function parseShallow(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) return undefined;
  let level: unknown[] = [value];
  for (let depth = 0; depth <= mostLevels; depth += 1) {
    const below: unknown[] = [];
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue;
      for (const inner of Object.values(one)) below.push(inner);
    }
    if (below.length === 0) return value;
    level = below;
  }
  return undefined;
}
