import { type Exchange, Refusal, type Reply } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import type { Handler } from '../world/provider.ts';

/** Versions before this one have shapes of their own. */
const firstPlain = '2024-10-21';

/** The newer API has no versions; two words are let through. */
export function newer(handler: Handler): Handler {
  return (exchange, id) => {
    const version = exchange.query.get('api-version');
    if (version !== null && version !== 'preview' && version !== 'latest') {
      throw new Refusal(400, 'API version not supported', { code: 'BadRequest' });
    }
    return handler(exchange, id);
  };
}

/** The older API needs a version, and takes no key as a bearer token. */
export function older(handler: Handler): Handler {
  return async (exchange, id) => {
    const version = demandVersion(exchange);
    demandToken(exchange);
    const reply = await handler(exchange, id);
    return version < firstPlain ? inOldShape(reply) : reply;
  };
}

function demandVersion({ query }: Exchange): string {
  const version = query.get('api-version') ?? '';
  if (!/^\d{4}-\d\d-\d\d(-preview)?$/.test(version)) {
    throw new Refusal(404, 'Resource not found', { code: '404' });
  }
  return version;
}

function demandToken({ headers }: Exchange): void {
  const [, token] = /^Bearer\s+(.*)$/i.exec(headers.authorization ?? '') ?? [];
  if (token === undefined || token.split('.').length === 3) return;
  throw new Refusal(401, 'The bearer token is not one of Microsoft Entra.', { code: '401' });
}

/** Files and batches as early versions show them. Contents of files are left as they are. */
function inOldShape(reply: Reply): Reply {
  const isJson = reply.headers?.['content-type'] === 'application/json';
  if (!isJson || typeof reply.body !== 'string') return reply;
  return { ...reply, body: JSON.stringify(shaped(JSON.parse(reply.body))) };
}

function shaped(value: JsonObject): JsonObject {
  const { object, data, ...rest } = value;
  if (object === 'list' && Array.isArray(data)) return { value: data.map(shaped), ...rest };
  if (object !== 'batch') return value;
  const dated = Object.entries(value).map(([name, field]) => [
    name,
    name.endsWith('_at') && typeof field === 'number' ? isoDate(field) : field,
  ]);
  const { request_counts: counts, status } = value;
  return {
    ...Object.fromEntries(dated),
    status: capitalised(String(status)),
    request_counts: isObject(counts) && counts.total === 0 ? noCounts : counts,
  };
}

const noCounts = { total: null, completed: null, failed: null };

function isoDate(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

function capitalised(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
