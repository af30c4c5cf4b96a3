import { fields, parseJson } from '../../base/json.ts';
import type { Answer } from '../../base/types.ts';

/** Longer messages are cut: they stand in one line. */
const mostCharacters = 300;

/** What a provider says in the body of an error, in any provider's shape; the body itself where it has no message. */
export function errorWords({ body }: Answer): string {
  const words = messageIn(parseJson(body)) ?? body;
  const line = words.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length > mostCharacters ? `${line.slice(0, mostCharacters)}…` : line;
}

/** Providers have no common word for it. */
const aboutOne =
  /context.?(length|window)|too (long|large|many tokens)|maximum.{0,20}tokens|content.?(policy|filter)|safety|moderation|invalid.?prompt|flagged/i;

/** The words sound as if they were about that one request, and not about all that are like it. */
export function soundsLikeOne({ body }: Answer): boolean {
  return aboutOne.test(body);
}

function messageIn(value: unknown): string | undefined {
  const { error, message, detail } = fields(Array.isArray(value) ? value[0] : value);
  const found = [fields(error).message, message, error, detail];
  return found.find((one): one is string => typeof one === 'string');
}
