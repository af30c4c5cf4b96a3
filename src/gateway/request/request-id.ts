import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseObject } from '../../base/json.ts';
import type { Dict } from '../../base/types.ts';
import type { ProviderInfo } from '../../batchers/provider-info.ts';
import { accountHash, isSecretive, splitHeaders } from '../../orchestrator/capture/credentials.ts';
import { credentialsIn, type Place } from './routes.ts';

/** The facts in an id: all that is needed to go on with its request, except body and credential. */
export interface RequestFacts {
  readonly provider: string;
  /** The provider's path and query, without credentials. */
  readonly target: string;
  /** Headers that may change the answer. */
  readonly headers: Dict;
  /** Options by header, as text. */
  readonly options: string;
  readonly run?: string | undefined;
  readonly fresh?: boolean;
  readonly row: number;
  /** Hexadecimal digits. */
  readonly fingerprint: string;
  readonly occurrence: number;
}

const macLength = 22;

/**
 * The id of a request, which can be checked without looking anything up: it ends with a keyed hash over its
 * facts and the account that has asked. It holds no secret.
 */
export function requestId(salt: Uint8Array, account: Uint8Array, facts: RequestFacts): string {
  const text = Buffer.from(JSON.stringify(facts)).toString('base64url');
  return `${text}.${mac(salt, account, text)}`;
}

/** The facts of an id; `undefined`: it is not an id. `isIdOf` checks whose it is. */
export function readRequestId(id: string): RequestFacts | undefined {
  const [, text] = /^([\w-]{1,16000})\.[\w-]{22}$/.exec(id) ?? [];
  if (text === undefined) return undefined;
  return parseObject(Buffer.from(text, 'base64url').toString()) as RequestFacts | undefined;
}

/** Whether this gateway, or another one on the same ledger, has made the id for this account. */
export function isIdOf(salt: Uint8Array, account: Uint8Array, id: string): boolean {
  const expected = mac(salt, account, id.slice(0, -macLength - 1));
  return timingSafeEqual(Buffer.from(id.slice(-macLength)), Buffer.from(expected));
}

/** The account behind the credentials of a request. */
export function accountOf(salt: Uint8Array, place: Place, headers: Dict, url: URL): Uint8Array {
  const { registered, isConfigured } = place;
  const { info } = registered;
  const query = credentialsIn(url, place);
  const secrets = secretHeaders(headers, info);
  const split = splitHeaders(secrets, info, isConfigured, { query, credential: undefined });
  return accountHash(salt, split, info, 'unproved');
}

function mac(salt: Uint8Array, account: Uint8Array, text: string): string {
  const hash = createHmac('sha256', salt).update('batchling request id\n').update(account);
  return hash.update(text).digest('base64url').slice(0, macLength);
}

/** Headers that never change an answer. */
const noise =
  /^(accept(-.*)?|user-agent|content-length|date|origin|referer|via|forwarded|traceparent|tracestate|baggage|idempotency-key|sec-.*|x-stainless-.*|x-forwarded-.*|x-request-id)$/;

/** Headers of a call that may change its answer and are no secret: they may stand in an id. */
export function keptHeaders(headers: Dict, info: ProviderInfo): Dict {
  const kept = Object.entries(headers).filter(
    ([name]) => !noise.test(name) && !isSecret(name, info),
  );
  return Object.fromEntries(kept);
}

/** Secret headers that may change it: a client that asks for the answer has to bring them. */
export function secretHeaders(headers: Dict, info: ProviderInfo): Dict {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isSecret(name, info)));
}

function isSecret(name: string, { credentialHeaders, accountHeaders }: ProviderInfo): boolean {
  return isSecretive(name) || credentialHeaders.includes(name) || accountHeaders.includes(name);
}
