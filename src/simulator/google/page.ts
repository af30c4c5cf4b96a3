import { Refusal } from '../server/exchange.ts';
import { isObject, type JsonObject, parseJson } from '../server/json.ts';

const standard = 50;
const most = 1000;
const known = ['pageSize', 'pageToken', 'key', 'alt', 'prettyPrint', '$alt'];

/** One page of a list. An empty list has no member of that name, the last page no token. */
export function page(name: string, items: readonly object[], query: URLSearchParams): JsonObject {
  for (const parameter of query.keys()) {
    if (known.includes(parameter)) continue;
    const problem = `Unknown name "${parameter}": Cannot bind query parameter.`;
    throw new Refusal(400, `Invalid JSON payload received. ${problem}`);
  }
  const size = Number(query.get('pageSize') ?? standard);
  if (!Number.isInteger(size) || size < 0) throw new Refusal(400, 'page_size must be positive.');
  const start = startOf(query.get('pageToken'));
  const end = start + Math.min(size === 0 ? standard : size, most);
  const shown = items.slice(start, end);
  return {
    ...(shown.length > 0 && { [name]: shown }),
    ...(end < items.length && { nextPageToken: tokenOf(end) }),
  };
}

/** Tokens are opaque to clients. */
function tokenOf(start: number): string {
  return Buffer.from(JSON.stringify({ start })).toString('base64');
}

function startOf(token: string | null): number {
  if (token === null || token === '') return 0;
  const value = parseJson(Buffer.from(token, 'base64').toString());
  if (isObject(value) && typeof value.start === 'number') return value.start;
  throw new Refusal(400, 'page_token is invalid.');
}
