import type { IncomingHttpHeaders } from 'node:http';
import type { Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { keyHeaders } from '../admission/access.ts';

/** Headers that belong to one connection. */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
]);

/** Headers of a request as its provider is to see them: without those of this connection and ours. */
export function forwardedHeaders(
  given: IncomingHttpHeaders,
  info: ProviderInfo,
  own: Dict | undefined,
): Dict {
  const named = String(given.connection ?? '').split(',');
  const dropped = new Set(named.map((name) => name.trim().toLowerCase()));
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || hopByHop.has(name) || dropped.has(name) || isOurs(name)) continue;
    headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  if (own === undefined) return headers;
  // The token of the gateway may stand in the place of a key, which need not be the one of this provider.
  const replaced = [...info.credentialHeaders, ...info.accountHeaders, ...keyHeaders];
  for (const name of replaced) delete headers[name];
  return { ...headers, ...own };
}

/** Headers of an answer that goes on to the client. */
export function answeredHeaders(
  given: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string | string[] | undefined>> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !hopByHop.has(name)));
}

function isOurs(name: string): boolean {
  return name === 'x-batchling' || name.startsWith('x-batchling-') || name === 'prefer';
}
