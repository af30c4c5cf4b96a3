import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Dict } from '../../base/types.ts';
import { accountHash, splitHeaders } from '../../orchestrator/capture/credentials.ts';
import { secretHeaders } from './kept-headers.ts';
import { credentialsIn, type Place } from './routes.ts';

/** What an id says about its request: all that is needed to go on with it, but its body and credential. */
export interface RequestFacts {
  readonly provider: string;
  /** The provider's path and query, without credentials. */
  readonly target: string;
  /** Of those that may change the answer. */
  readonly headers: Dict;
  /** Options by header, as text. */
  readonly options: string;
  readonly run?: string | undefined;
  readonly fresh?: boolean;
  readonly row: number;
  /** In hexadecimal. */
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

/** The facts of an id; `undefined`: it is not an id. Whose it is remains to be checked. */
export function readRequestId(id: string): RequestFacts | undefined {
  const [, text] = /^([\w-]{1,16000})\.[\w-]{22}$/.exec(id) ?? [];
  if (text === undefined) return undefined;
  try {
    const facts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof facts === 'object' && facts !== null ? (facts as RequestFacts) : undefined;
  } catch {
    return undefined;
  }
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
