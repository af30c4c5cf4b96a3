import { createHmac } from 'node:crypto';
import type { Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import type { Credentials } from '../../http/wire.ts';

/** A token that changes while the program runs; asked for every request to the provider. */
export type CredentialFunction = () => string | Promise<string>;

/** A call's headers, taken apart, and what its URL says about the account. */
export interface SplitHeaders {
  /** Sent with every request of ours to this service; kept in memory only. */
  readonly secrets: Dict;
  /** Credentials of the query, sent in the query of every request of ours. */
  readonly query: Dict;
  /** The user's function that is asked for a newer credential. */
  readonly credential: CredentialFunction | undefined;
  /** What a batcher may see. */
  readonly rest: Dict;
  /** Other `x-*` headers of a `hosts` service, which may change the answer. */
  readonly extra: readonly string[];
  /** The same text for the same secrets. */
  readonly key: string;
  /** The call was signed: its client's own request is good for minutes only. */
  readonly isSigned: boolean;
}

/** What a call says about its account outside of its headers. */
export interface BesideHeaders {
  readonly query: Dict;
  readonly credential: CredentialFunction | undefined;
}

/** `x-*` headers that differ from call to call and never change an answer. */
const volatile =
  /^x-(stainless-|idempotency-key$|goog-api-client$|amz-user-agent$|server-timeout$|batchling|request-id$|client-request-id$|correlation-id$|trace|b3-|datadog-|amzn-trace-id$|cloud-trace-context$|forwarded-|real-ip$)/;

/** Names that say "credential", or name the user: at a service we do not know they belong to the credential. */
const secretive =
  /(^|-)(api-?key|key|token|secret|password|auth|authorization|signature|cookie)(-|$)|^(x-)?(forwarded|remote)-(user|email|groups|preferred-username|client-cert)$/;

/** The same names for something else. */
const noSecret = /^((x-)?idempotency-key|x-batchling.*|sec-.*)$/;

/** Whether a header is a credential by its name. */
export function isSecretive(name: string): boolean {
  return secretive.test(name) && !noSecret.test(name);
}

const none: Dict = {};
const nothing: BesideHeaders = { query: none, credential: undefined };

/** Calls of one client share their headers, which are taken apart once. */
const known = new WeakMap<Dict, { info: ProviderInfo; configured: boolean; split: SplitHeaders }>();

export function splitHeaders(
  headers: Dict,
  info: ProviderInfo,
  configured: boolean,
  beside: BesideHeaders = nothing,
): SplitHeaders {
  const before = known.get(headers);
  if (
    before &&
    before.info === info &&
    before.configured === configured &&
    before.split.query === beside.query &&
    before.split.credential === beside.credential
  ) {
    return before.split;
  }
  const split = takeApart(headers, info, configured, beside);
  known.set(headers, { info, configured, split });
  return split;
}

function takeApart(
  headers: Dict,
  info: ProviderInfo,
  configured: boolean,
  { query, credential }: BesideHeaders,
): SplitHeaders {
  const secrets: Record<string, string> = {};
  const rest: Record<string, string> = {};
  const extra: string[] = [];
  let isSigned = false;
  let key = `${info.name}\n${numberOf(credential)}`;
  for (const name in headers) {
    const given = headers[name] as string;
    const value = info.credentialHeaders.includes(name) ? lasting(info, name, given) : given;
    isSigned ||= value !== given;
    if (value === undefined) continue;
    const secret = configured && isSecretive(name);
    const isTheirs = configured && name.startsWith('x-') && !info.ownHeaders?.test(name);
    const other = isTheirs && !volatile.test(name);
    const known = info.credentialHeaders.includes(name) || info.accountHeaders.includes(name);
    if (known || secret || other) {
      secrets[name] = value;
      key += `\n${name}: ${value}`;
      if (other && !secret) extra.push(`${name}: ${value}`);
    } else {
      rest[name] = value;
    }
  }
  for (const name in query) key += `\n?${name}=${query[name]}`;
  return { secrets, query, credential, rest, extra: extra.sort(), key, isSigned };
}

function lasting(info: ProviderInfo, name: string, value: string): string | undefined {
  return info.lastingCredential ? info.lastingCredential(name, value) : value;
}

const numbers = new WeakMap<CredentialFunction, number>();
let numbered = 0;

/** Functions have no text to compare them by. */
function numberOf(credential: CredentialFunction | undefined): number {
  if (credential === undefined) return 0;
  const number = numbers.get(credential) ?? ++numbered;
  numbers.set(credential, number);
  return number;
}

/** Whether tokens are those of the one user of a program, or of clients that may forge them. */
export type TokenTrust = 'trusted' | 'unproved';

/**
 * Keyed hash of the credential's stable identity: the bare key wherever it stands, issuer and subject of
 * a JWT, plus the headers that select organisation, project or workspace. A JWT that nobody has proved stands
 * for itself alone: anybody can write the name of another one into it.
 */
export function accountHash(
  salt: Uint8Array,
  split: Pick<SplitHeaders, 'secrets' | 'query'>,
  info: ProviderInfo,
  trust: TokenTrust = 'trusted',
): Buffer {
  const keys = keysOf(split, info);
  const identities = trust === 'trusted' ? keys.map(stableIdentity) : keys;
  const others = Object.entries(split.secrets)
    .filter(([name]) => !info.credentialHeaders.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const material = JSON.stringify([info.name, [...new Set(identities)].sort(), others]);
  return createHmac('sha256', salt).update(material).digest();
}

/** The *name* of the environment variable that holds this credential. */
export function credentialHint(
  split: Pick<SplitHeaders, 'secrets' | 'query'>,
  info: ProviderInfo,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const keys = keysOf(split, info);
  const name = info.environment.find((variable) => {
    const value = environment[variable];
    return value !== undefined && value !== '' && keys.includes(value);
  });
  return name && `env:${name}`;
}

/** What is sent instead of a captured credential: in the same places, with the same scheme. */
export function withToken(captured: Credentials, info: ProviderInfo, token: string): Credentials {
  const { headers = none, query = none } = captured;
  const names = info.credentialHeaders.filter((name) => headers[name] !== undefined);
  const replaced = names.map((name) => {
    const [scheme = ''] = /^\S+\s+(?=\S)/.exec(headers[name] as string) ?? [];
    return [name, `${scheme}${token}`] as const;
  });
  const inQuery = Object.keys(query).map((name) => [name, token] as const);
  const [first] = info.credentialHeaders;
  if (replaced.length + inQuery.length === 0 && first !== undefined) {
    replaced.push([first, first === 'authorization' ? `Bearer ${token}` : token]);
  }
  return {
    headers: { ...headers, ...Object.fromEntries(replaced) },
    query: Object.fromEntries(inQuery),
  };
}

function keysOf(
  { secrets, query }: Pick<SplitHeaders, 'secrets' | 'query'>,
  info: ProviderInfo,
): string[] {
  const inHeaders = info.credentialHeaders
    .map((name) => secrets[name])
    .filter((value) => value !== undefined)
    .map(bareKey);
  return [...inHeaders, ...Object.values(query)];
}

function bareKey(value: string): string {
  return value.replace(/^bearer\s+/i, '').trim();
}

/** Tokens are renewed every hour, but issuer and subject stay. */
function stableIdentity(key: string): string {
  const parts = key.split('.');
  if (parts.length !== 3) return key;
  try {
    const payload: unknown = JSON.parse(Buffer.from(parts[1] as string, 'base64url').toString());
    const { iss, sub } = payload as { iss?: unknown; sub?: unknown };
    return typeof sub === 'string' ? `jwt:${String(iss)}|${sub}` : key;
  } catch {
    return key;
  }
}
