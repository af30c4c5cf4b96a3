import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../gateway-error.ts';

const own = 'x-batchling-token';
/** Headers in which SDKs send an API key. */
export const keyHeaders: readonly string[] = [
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
];

/**
 * Throws unless the request carries the token of the gateway; the check takes as long for any wrong one. `asKey`:
 * clients need no key of their own, and many can set nothing but a key, so the token may stand in its place.
 */
export function checkToken(
  expected: string | undefined,
  headers: IncomingHttpHeaders,
  asKey: boolean,
): void {
  if (expected === undefined) return;
  const given = asKey ? [headers[own], ...keyHeaders.map((name) => headers[name])] : [headers[own]];
  const texts = given.filter((value) => typeof value === 'string');
  const wanted = digest(expected);
  const right = texts.filter((text) => timingSafeEqual(digest(bare(text)), wanted));
  if (right.length > 0) return;
  const places = asKey ? `${own}, or in the place of an API key` : own;
  throw new GatewayError(
    'wrong_token',
    texts.length === 0
      ? `This server needs its token in the header ${places}.`
      : `The token of this server was not found in the header ${places}.`,
  );
}

/**
 * The target of a request without the root of the gateway, whose secret it must begin with; the check takes as long
 * for any wrong one.
 */
export function takeOffRoot(root: string, target: string): string {
  if (root === '') return target;
  const given = /^\/[^/?]*/.exec(target)?.[0] ?? '';
  if (timingSafeEqual(digest(given), digest(root))) return target.slice(given.length);
  throw new GatewayError(
    'wrong_token',
    'This gateway serves one command: its base URLs are in the variables of that command.',
  );
}

function bare(text: string): string {
  return text.replace(/^bearer\s+/i, '');
}

/** `timingSafeEqual` compares bytes of one length only. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
