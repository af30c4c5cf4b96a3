import type { JsonObject } from '../server/json.ts';
import { invalid } from './errors.ts';

/** One page of a list that is already in its order: pages have numbers from zero up. */
export function page(items: readonly JsonObject[], query: URLSearchParams) {
  const number = wholeNumber(query, 'page', 0, 0);
  const size = wholeNumber(query, 'page_size', 100, 1);
  const start = number * size;
  return { object: 'list', data: items.slice(start, start + size), total: items.length };
}

function wholeNumber(query: URLSearchParams, name: string, standard: number, least: number) {
  const value = Number(query.get(name) ?? standard);
  if (Number.isInteger(value) && value >= least) return value;
  throw invalid(name, 'Input should be a valid integer');
}
