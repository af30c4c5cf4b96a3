import { invalid } from './errors.ts';

/** One page of a list that is already in its order: `after` is the last id of the page before. */
export function page<Item extends { id: string }>(
  items: Item[],
  query: URLSearchParams,
  limits: { standard: number; most: number },
) {
  const limit = Number(query.get('limit') ?? limits.standard);
  if (!Number.isInteger(limit) || limit < 1 || limit > limits.most) {
    throw invalid('limit', `must be an integer from 1 to ${limits.most}.`);
  }
  const after = query.get('after');
  const start = after === null ? 0 : items.findIndex((item) => item.id === after) + 1;
  if (after !== null && start === 0) throw invalid('after', `no item has the id ${after}.`);
  const data = items.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + data.length < items.length,
  };
}
