import type { Exchange, Refusal, Reply } from '../server/exchange.ts';
import type { BatchStore } from './batch.ts';
import type { World } from './world.ts';

export type Handler = (exchange: Exchange, id: string) => Promise<Reply> | Reply;

/** Method, path with at most one `:id`, handler; `signed`: the URL is the permission, and no key is asked for. */
export type Route = readonly [method: string, path: string, handler: Handler, access?: 'signed'];

/** One provider's wire, as the server needs it. */
export interface Provider {
  /** What follows the mount prefix in the base URL SDKs are given: `/v1`, or nothing. */
  basePath: string;
  /** Paths that belong to this provider when no prefix names one; the longest match wins. */
  barePaths: readonly string[];
  /** Headers that may carry the key, beside `authorization`. */
  keyHeaders: readonly string[];
  /** Headers that, beside the credential, keep accounts apart. */
  scopeHeaders: readonly string[];
  requestIdHeader: string;
  /** Where batches are created. */
  createPath: string;
  routes: readonly Route[];
  batches: BatchStore;
  errorBody(refusal: Refusal, requestId: string): unknown;
  notFound(exchange: Exchange): Refusal;
  unauthorized(keyGiven: boolean): Refusal;
  /** Puts a stranger's batch into the account and returns its id. */
  addForeignBatch(account: string, size: number): string;
}

export type ProviderFactory = (world: World) => Provider;

export function findRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): { handler: Handler; id: string; isSigned: boolean } | null {
  const segments = path.split('/');
  for (const [routeMethod, routePath, handler, access] of routes) {
    if (routeMethod !== method) continue;
    const wanted = routePath.split('/');
    if (wanted.length !== segments.length) continue;
    if (!wanted.every((segment, at) => segment === ':id' || segment === segments[at])) continue;
    const id = segments[wanted.indexOf(':id')] ?? '';
    return { handler, id: decodeURIComponent(id), isSigned: access === 'signed' };
  }
  return null;
}
