import { Refusal } from '../server/exchange.ts';

const standard = 20;
const most = 1000;

/** One page of a list that is already newest first. */
export function page<Item extends { id: string }>(items: Item[], query: URLSearchParams) {
  const limit = Number(query.get('limit') ?? standard);
  if (!Number.isInteger(limit) || limit < 1 || limit > most) {
    throw new Refusal(400, `limit: Input should be an integer from 1 to ${most}`);
  }
  const after = query.get('after_id');
  const before = query.get('before_id');
  if (after !== null && before !== null) {
    throw new Refusal(400, 'after_id and before_id cannot be used together');
  }
  const position = (name: string, id: string) => {
    const at = items.findIndex((item) => item.id === id);
    if (at < 0) throw new Refusal(400, `${name}: no batch has the id ${id}`);
    return at;
  };
  // `before_id` walks back towards the newest, so what is left then lies before the page.
  const end = before === null ? items.length : position('before_id', before);
  const start =
    after === null
      ? Math.max(0, before === null ? 0 : end - limit)
      : position('after_id', after) + 1;
  const data = items.slice(start, Math.min(end, start + limit));
  return {
    data,
    has_more: before === null ? start + data.length < items.length : start > 0,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
