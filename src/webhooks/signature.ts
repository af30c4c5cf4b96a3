import { createHmac } from 'node:crypto';
import type { SigningKeys } from './signing-keys.ts';

/** The value of `webhook-signature`; `timestamp` is in seconds. */
export function signatureOf(
  keys: SigningKeys,
  id: string,
  timestamp: number,
  body: string,
): string {
  const signed = `${id}.${timestamp}.${body}`;
  return keys
    .map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
    .join(' ');
}
