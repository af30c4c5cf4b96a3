import type { Dict } from '../../base/types.ts';

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

/** The parameters of a query with these names, as a query; empty where there are none. */
export function onlyThese(query: string, names: readonly string[]): string {
  if (query === '' || names.length === 0) return '';
  const given = new URLSearchParams(query);
  const kept = new URLSearchParams();
  for (const name of names) if (given.has(name)) kept.set(name, given.get(name) as string);
  return kept.size > 0 ? `?${kept}` : '';
}
