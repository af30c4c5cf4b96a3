import { Refusal } from '../server/exchange.ts';

const standard = 100;
const prefix = 'page-';

/** One page, and the token of the next. A limit above the most is taken for the most. */
export function page<Item>(
  items: readonly Item[],
  query: URLSearchParams,
  most: number,
): { items: Item[]; next: string | null } {
  const limit = Number(query.get('limit') ?? standard);
  if (!Number.isInteger(limit) || limit < 1) throw new Refusal(400, 'limit must be positive.');
  const token = query.get('pagination_token');
  if (token !== null && !token.startsWith(prefix)) {
    throw new Refusal(400, 'pagination_token is invalid.');
  }
  const start = token === null ? 0 : Number(token.slice(prefix.length));
  const end = start + Math.min(limit, most);
  return {
    items: items.slice(start, end),
    next: end < items.length ? `${prefix}${end}` : null,
  };
}
