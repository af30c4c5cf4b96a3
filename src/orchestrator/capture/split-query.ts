import type { Dict } from '../../types.ts';

const none: Dict = {};

/** A query without these parameters, which are credentials; the rest stays as it was written. */
export function splitQuery(
  query: string,
  names: readonly string[],
): { rest: string; secrets: Dict } {
  if (query === '' || names.length === 0) return { rest: query, secrets: none };
  const secrets: Record<string, string> = {};
  const kept = query
    .slice(1)
    .split('&')
    .filter((pair) => {
      const [[name, value] = ['', '']] = new URLSearchParams(pair);
      if (!names.includes(name)) return true;
      secrets[name] = value;
      return false;
    });
  return { rest: kept.length > 0 ? `?${kept.join('&')}` : '', secrets };
}
