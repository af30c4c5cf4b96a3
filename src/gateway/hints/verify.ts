import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../gateway-error.ts';

/** Older or newer messages may be replayed ones, in seconds. */
const tolerance = 5 * 60;

/** A message as its headers name it. */
export interface SignedMessage {
  readonly id: string;
  readonly timestamp: string;
  /** The value of `webhook-signature`. */
  readonly signatures: string;
}

/** Reads the headers of Standard Webhooks. Throws where one is missing, or the message is not of now; `now` in milliseconds. */
export function readSigned(headers: IncomingHttpHeaders, now: number): SignedMessage {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
    (name) => headers[`webhook-${name}`],
  );
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    throw refused('it has no webhook-id, webhook-timestamp and webhook-signature');
  }
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  if (!(Math.abs(now / 1_000 - seconds) <= tolerance)) {
    throw refused(
      'its webhook-timestamp is more than five minutes away from the clock of this machine',
    );
  }
  return { id, timestamp, signatures };
}

/** Throws unless one of the signatures is of this secret. The check takes as long for any wrong one. */
export function checkSignature(
  { id, timestamp, signatures }: SignedMessage,
  body: string,
  secret: string | undefined,
): void {
  if (!secret) throw refused('no secret for such messages is set here');
  const key = keyOf(secret);
  // Everybody can sign with a key of no bytes, such as that of `whsec_…`, copied from an example.
  if (key.length === 0) throw refused('the secret that is set here holds no key');
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest();
  const isRight = signatures
    .split(' ')
    .flatMap((signature) => (signature.startsWith('v1,') ? [signature.slice(3)] : []))
    .map((signature) => Buffer.from(signature, 'base64'))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted));
  if (!isRight) throw refused('its webhook-signature is not of the secret that is set here');
}

/** As the official SDKs read a secret: base64 after `whsec_`, the text itself otherwise. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_')
    ? Buffer.from(secret.slice('whsec_'.length), 'base64')
    : Buffer.from(secret, 'utf8');
}

export function refused(why: string): GatewayError {
  return new GatewayError('bad_signature', `The message is refused: ${why}.`);
}
