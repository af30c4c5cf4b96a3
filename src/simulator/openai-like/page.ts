import { Refusal } from '../server/exchange.ts';
import type { JsonObject } from '../server/json.ts';
import { invalid } from './errors.ts';

/** How many items a page has where nobody says, and at most. */
export interface PageSizes {
  standard: number;
  most: number;
}

/** One page of a list that is already in its order: `after` is the last id of the page before. */
export function pageAfterId(
  items: readonly JsonObject[],
  query: URLSearchParams,
  { standard, most }: PageSizes,
) {
  const limit = Number(query.get('limit') ?? standard);
  if (!Number.isInteger(limit) || limit < 1 || limit > most) {
    throw invalid('limit', `must be an integer from 1 to ${most}.`);
  }
  const after = query.get('after');
  const start = after === null ? 0 : items.findIndex((item) => item.id === after) + 1;
  if (after !== null && start === 0) {
    throw new Refusal(404, `No item was found with the id '${after}'.`, { param: 'after' });
  }
  const data = items.slice(start, start + limit);
  return {
    object: 'list',
    data,
    // The ids of an empty page are missing, not null.
    ...(data.length > 0 && { first_id: data[0]?.id, last_id: data.at(-1)?.id }),
    has_more: start + data.length < items.length,
  };
}
