import type { IncomingHttpHeaders } from 'node:http';
import type { Exchange, Refusal, Reply } from '../server/exchange.ts';
import type { BatchStore } from './batches/batch.ts';
import type { World } from './world.ts';

export type Handler = (exchange: Exchange, id: string) => Promise<Reply> | Reply;

/**
 * Method, path with at most one `:id`, which may have an ending of its own (`:id:cancel`), handler; `signed`: the
 * URL is the permission, and no key is asked for.
 */
export type Route = readonly [method: string, path: string, handler: Handler, access?: 'signed'];

/** One provider's wire, as the server needs it. */
export interface Provider {
  /** What follows the mount prefix in the base URL SDKs are given: `/v1`, or nothing. */
  basePath: string;
  /** Paths that belong to this provider when no prefix names one; the longest match wins. */
  barePaths: readonly string[];
  /** Headers that may carry the key, beside `authorization`. */
  keyHeaders: readonly string[];
  /** The credential of a request that carries it in a way of its own. Missing, or null: where all carry it. */
  credentialIn?(headers: IncomingHttpHeaders): string | null;
  /** Headers that, beside the credential, keep accounts apart. */
  scopeHeaders: readonly string[];
  requestIdHeader: string;
  /** Where batches are created. */
  createPath: string | RegExp;
  routes: readonly Route[];
  batches: Pick<BatchStore, 'all'>;
  /** `path`: what was asked for, behind the mount prefix. */
  errorBody(refusal: Refusal, requestId: string, path: string): unknown;
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
    const ids = wanted.map((one, at) => idIn(one, segments[at] as string));
    if (!wanted.every((one, at) => one === segments[at] || ids[at] !== null)) continue;
    const id = decodeURIComponent(ids.find((one) => one !== null) ?? '');
    return { handler, id, isSigned: access === 'signed' };
  }
  return null;
}

const idPlace = ':id';

/** What stands at the place of the id, or null where the segment has none or another ending. */
function idIn(wanted: string, segment: string): string | null {
  if (!wanted.startsWith(idPlace)) return null;
  const ending = wanted.slice(idPlace.length);
  return segment.endsWith(ending) ? segment.slice(0, segment.length - ending.length) : null;
}
