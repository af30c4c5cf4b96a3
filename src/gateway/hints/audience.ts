import { refused } from './verify.ts';

/**
 * Throws where the token was made for another receiver: whoever holds it could send it on. Google does not document what
 * the audience is. One that is no URL (a client id, say) is not known here and decides nothing. `own`: origins that are right.
 */
export function assertMeantFor(claims: Readonly<Record<string, unknown>>, own: readonly string[]) {
  const audiences = [claims.aud].flat().filter((one) => typeof one === 'string');
  const origins = audiences.flatMap((one) => (/^https?:/i.test(one) ? [originOf(one)] : []));
  if (origins.length === 0 || origins.some((origin) => own.includes(origin))) return;
  throw refused('its token was made for another receiver');
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : '';
}
