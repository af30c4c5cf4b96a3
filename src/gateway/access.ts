import { createHash, timingSafeEqual } from 'node:crypto';
import { GatewayError } from './gateway-error.ts';

/** Throws unless the request carries the token of the gateway. Takes as long for any wrong one. */
export function checkToken(expected: string | undefined, given: unknown): void {
  if (expected === undefined) return;
  const text = typeof given === 'string' ? given : '';
  if (timingSafeEqual(digest(text), digest(expected))) return;
  throw new GatewayError(
    'wrong_token',
    given === undefined
      ? 'This gateway needs its token in the header x-batchling-token.'
      : 'The token in the header x-batchling-token is not the one of this gateway.',
  );
}

/** Of one length, whatever was given. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
