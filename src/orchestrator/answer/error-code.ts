import { fields, parseJson } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';

/** Larger bodies are not searched for a code. */
const mostText = 20_000;

/**
 * The code or type that the body of an error names, in any provider's shape: it tells people which
 * failure is the most frequent. `undefined` where there is none.
 */
export function errorCodeOf({ status, body, json }: Answer): string | undefined {
  if (status < 400 || body.length > mostText) return undefined;
  const parsed = json ?? parseJson(body);
  const { error, code, type } = fields(Array.isArray(parsed) ? parsed[0] : parsed);
  const inner = fields(error);
  const names = [inner.code, inner.status, inner.type, code, type, error];
  return names.find((name): name is string => typeof name === 'string' && isName(name));
}

/** A word, and no sentence: it is shown in a list, and must not hold what the user sent. */
function isName(text: string): boolean {
  return /^[A-Za-z][\w.:-]{1,59}$/.test(text);
}
