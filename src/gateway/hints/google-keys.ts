import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { untraced } from '../../base/call-tracing.ts';
import { type JsonObject, parseObject } from '../../base/json.ts';
import { createAgent } from '../../http/agent.ts';
import { refused } from './verify.ts';

/** Keys are asked for again after so long, and no sooner for a message that names an unknown one. */
const kept = 60 * 60_000;
const leastPause = 60_000;
const timeLimit = 10_000;

interface PublishedKey extends JsonWebKey {
  readonly kid?: string;
}

/**
 * The public keys with which Google signs the messages that were asked for with a batch: JSON web tokens, RS256. Fetched
 * from the service itself and kept.
 */
export class GoogleKeys {
  readonly #url: URL;
  readonly #now: () => number;
  #keys: Promise<ReadonlyMap<string, KeyObject>> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  /** `url`: where the keys are published. */
  constructor(url: string, now: () => number) {
    this.#url = new URL(url);
    this.#now = now;
  }

  /** The claims of a token. Throws unless it is signed with a key of Google's and still valid. */
  async claimsOf(token: string): Promise<JsonObject> {
    const [head = '', claims = '', signature = ''] = token.split('.');
    const { alg, kid } = decoded(head);
    if (alg !== 'RS256' || typeof kid !== 'string')
      throw refused('its token is not signed by RS256');
    const key = await this.#key(kid);
    const signed = Buffer.from(`${head}.${claims}`);
    if (!key || !verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))) {
      throw refused('its token is not signed with a key of Google');
    }
    const told = decoded(claims);
    const { exp } = told;
    if (typeof exp === 'number' && exp * 1_000 < this.#now())
      throw refused('its token has expired');
    return told;
  }

  async #key(kid: string): Promise<KeyObject | undefined> {
    const age = this.#now() - this.#askedAt;
    const known = age < kept ? await this.#keys?.catch(() => undefined) : undefined;
    if (known?.has(kid) || age < leastPause) return known?.get(kid);
    this.#askedAt = this.#now();
    this.#keys = untraced(() => this.#fetch());
    return (await this.#keys.catch(() => undefined))?.get(kid);
  }

  async #fetch(): Promise<ReadonlyMap<string, KeyObject>> {
    const agent = await createAgent(timeLimit);
    try {
      const { statusCode, body } = await agent.request({
        origin: this.#url.origin,
        path: this.#url.pathname,
        method: 'GET',
        signal: AbortSignal.timeout(timeLimit),
      });
      const { keys } = (await body.json()) as { keys?: readonly PublishedKey[] };
      if (statusCode !== 200 || !Array.isArray(keys)) throw new Error(`no keys: ${statusCode}`);
      return new Map(
        keys.flatMap((key) =>
          typeof key.kid === 'string' && key.kty === 'RSA'
            ? [[key.kid, createPublicKey({ key, format: 'jwk' })] as const]
            : [],
        ),
      );
    } finally {
      await agent.close();
    }
  }
}

function decoded(part: string): JsonObject {
  const value = parseObject(Buffer.from(part, 'base64url').toString('utf8'));
  if (value) return value;
  throw refused('its webhook-signature is no token');
}
