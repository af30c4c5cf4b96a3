import { BatchlingError, invariant } from '../base/errors.ts';
import type { Dict } from '../base/types.ts';
import type { Credentials, WireRequest } from './wire.ts';

export interface Target {
  readonly url: URL;
  /** The URL for messages and facts, without its query, which may be a signature, and without user info. */
  readonly label: string;
  /** The origin is one that may see the credentials. */
  readonly declared: boolean;
}

const authorizationLike =
  /authorization|api-?key|subscription-key|cookie|(^|-)(auth|access|bearer)-?token/i;

/** Where a request goes, or `FOREIGN_ORIGIN` when it must not go there. */
export function resolveTarget(
  base: string,
  { path, signed, audience }: Pick<WireRequest, 'path' | 'signed' | 'audience'>,
  origins: ReadonlySet<string>,
  signs = false,
): Target {
  if (signed) return signedTarget(base, path);
  const relative = path.startsWith('/');
  const href = relative ? joined(base, path) : path;
  invariant(URL.canParse(href), `"${withoutQuery(path)}" is neither a path nor an absolute URL`);
  const url = new URL(href);
  const isBound = signs && audience !== undefined && isAsSafe(url, base);
  const declared = origins.has(url.origin) || isBound;
  const label = `${url.protocol}//${url.host}${url.pathname}`;
  if (!declared && relative) {
    throw foreign(label, 'its origin is not one that the batcher declares for this base');
  }
  if (!declared && url.protocol !== 'https:') {
    throw foreign(label, 'only https may leave the declared origins');
  }
  return { url, label, declared };
}

/** Plain http is as good as the base where that has it, too. */
function isAsSafe({ protocol }: URL, base: string): boolean {
  return protocol === 'https:' || (protocol === 'http:' && new URL(base).protocol === 'http:');
}

/** A signed URL goes where it says, but never by plain http where the base does not. */
function signedTarget(base: string, path: string): Target {
  invariant(URL.canParse(path), 'A signed URL is not an absolute URL');
  const url = new URL(path);
  const label = `${url.protocol}//${url.host}/[signed]`;
  if (!isAsSafe(url, base)) {
    throw foreign(label, 'a signed URL has to be https, unless the base is plain http');
  }
  return { url, label, declared: false };
}

/**
 * Joins them as text: resolving would let `//elsewhere.example` leave the base. A query of the base goes along with
 * every request, behind the request's own.
 */
function joined(base: string, path: string): string {
  const [place = '', query] = base.split('?');
  const url = place.replace(/\/+$/, '') + path;
  return query === undefined ? url : `${url}${path.includes('?') ? '&' : '?'}${query}`;
}

/**
 * Declared origins get everything, the credentials last so that nothing overrides them. Any other
 * origin gets the request's own headers without those that look or read like a credential.
 */
export function headersFor(
  target: Target,
  own: Dict | undefined,
  shared: Dict | undefined,
  credentials: Credentials,
): Record<string, string> {
  if (target.declared) return lowerCased(shared, own, credentials.headers);
  const secretNames = new Set(Object.keys(lowerCased(credentials.headers)));
  const secretValues = secretsOf([credentials]);
  const allowed = Object.entries(lowerCased(own)).filter(
    ([name, value]) =>
      !authorizationLike.test(name) &&
      !secretNames.has(name) &&
      !secretValues.some((secret) => value.includes(secret)),
  );
  return Object.fromEntries(allowed);
}

/** The same place with the credentials that stand in the query, if it may see them. */
export function withQuery(target: Target, { query = {} }: Credentials): Target {
  const entries = Object.entries(query);
  if (!target.declared || entries.length === 0) return target;
  const url = new URL(target.url);
  for (const [name, value] of entries) url.searchParams.set(name, value);
  return { ...target, url };
}

/** What must not show up in a message: credentials, with and without scheme, and signatures. */
export function secretsOf(
  credentials: readonly Credentials[],
  url?: URL,
  { signed }: Pick<WireRequest, 'signed'> = {},
): readonly string[] {
  const values = credentials.flatMap(({ headers = {}, query = {}, hidden = [] }) => [
    ...hidden,
    ...Object.values(headers).flatMap((value) => [value, value.replace(/^\S+\s+/, '')]),
    ...Object.values(query).flatMap((value) => [value, encodeURIComponent(value)]),
  ]);
  const raw = url?.search.slice(1).split('&') ?? [];
  const query = [
    ...raw.map((pair) => pair.replace(/^[^=]*=/, '')),
    ...(url?.searchParams.values() ?? []),
    ...(url && signed ? [url.pathname] : []),
  ];
  // Short words ("100", "media") are no secrets; without them a message would be unreadable.
  return [
    ...values.filter((value) => value.length >= 4),
    ...query.filter((value) => value.length >= 8),
  ];
}

export function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce((result, secret) => result.replaceAll(secret, '[redacted]'), text);
}

function withoutQuery(path: string): string {
  return path.replace(/[?#].*$/s, '');
}

function lowerCased(...dicts: readonly (Dict | undefined)[]): Record<string, string> {
  const result: Record<string, string> = {};
  for (const dict of dicts) {
    for (const [name, value] of Object.entries(dict ?? {})) result[name.toLowerCase()] = value;
  }
  return result;
}

function foreign(label: string, why: string): BatchlingError {
  return new BatchlingError('FOREIGN_ORIGIN', `Nothing was sent to ${label}: ${why}.`, {
    facts: { url: label },
  });
}
