import { createHmac } from 'node:crypto';
import type { ProviderInfo } from '../../batchers/batcher.ts';
import type { Dict } from '../../types.ts';

/** A call's headers, taken apart. */
export interface SplitHeaders {
  /** Sent with every request of ours to this service; kept in memory only. */
  readonly secrets: Dict;
  /** What a batcher may see. */
  readonly rest: Dict;
  /** For `hosts` services: other `x-*` headers, which may change the answer. */
  readonly extra: readonly string[];
  /** The same text for the same secrets. */
  readonly key: string;
}

/** `x-*` headers that differ from call to call and never change an answer. */
const volatile =
  /^x-(stainless-|batchling|request-id$|client-request-id$|correlation-id$|trace|b3-|datadog-|amzn-trace-id$|cloud-trace-context$|forwarded-|real-ip$)/;

/** Names that say "credential" at a service we do not know: never part of a fingerprint. */
const secretive = /(^|-)(api-?key|key|token|secret|password|auth|authorization|signature)(-|$)/;

/** Calls of one client share their headers, which are taken apart once. */
const known = new WeakMap<Dict, { info: ProviderInfo; configured: boolean; split: SplitHeaders }>();

export function splitHeaders(headers: Dict, info: ProviderInfo, configured: boolean): SplitHeaders {
  const before = known.get(headers);
  if (before && before.info === info && before.configured === configured) return before.split;
  const split = takeApart(headers, info, configured);
  known.set(headers, { info, configured, split });
  return split;
}

function takeApart(headers: Dict, info: ProviderInfo, configured: boolean): SplitHeaders {
  const secrets: Record<string, string> = {};
  const rest: Record<string, string> = {};
  const extra: string[] = [];
  let key = info.name;
  for (const name in headers) {
    const value = headers[name] as string;
    const other = configured && name.startsWith('x-') && !volatile.test(name);
    if (info.credentialHeaders.includes(name) || info.accountHeaders.includes(name) || other) {
      secrets[name] = value;
      key += `\n${name}: ${value}`;
      if (other && !secretive.test(name)) extra.push(`${name}: ${value}`);
    } else {
      rest[name] = value;
    }
  }
  return { secrets, rest, extra: extra.sort(), key };
}

/**
 * Keyed hash of the credential's stable identity: the bare key whatever header carries it, issuer and
 * subject of a JWT, plus the headers that select organisation, project or workspace.
 */
export function accountHash(salt: Uint8Array, secrets: Dict, info: ProviderInfo): Buffer {
  const identities = info.credentialHeaders
    .map((name) => secrets[name])
    .filter((value) => value !== undefined)
    .map((value) => stableIdentity(bareKey(value)));
  const others = Object.entries(secrets)
    .filter(([name]) => !info.credentialHeaders.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const material = JSON.stringify([info.name, [...new Set(identities)].sort(), others]);
  return createHmac('sha256', salt).update(material).digest();
}

/** The *name* of the environment variable that holds this credential. */
export function credentialHint(
  secrets: Dict,
  info: ProviderInfo,
  environment: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const keys = info.credentialHeaders.map((name) => secrets[name] && bareKey(secrets[name]));
  const name = info.environment.find((variable) => {
    const value = environment[variable];
    return value !== undefined && value !== '' && keys.includes(value);
  });
  return name && `env:${name}`;
}

function bareKey(value: string): string {
  return value.replace(/^bearer\s+/i, '').trim();
}

/** Tokens are renewed every hour; who they speak for stays. */
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
