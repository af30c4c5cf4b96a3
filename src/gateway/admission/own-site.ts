import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { isThisMachine, withoutBrackets } from '../../base/this-machine.ts';
import { GatewayError } from '../gateway-error.ts';

/** The values of `Host` that a server accepts: names of this machine, these and any address, or any value. */
export type AcceptedHost = 'loopback' | 'address' | 'any';

/**
 * Throws where a browser sends the request for a page of another server. A page can send requests to
 * any address, and one whose own name is made to lead here (DNS rebinding) can read the answers, too. Programs
 * send none of these headers but `Host`. `isPage`: what is asked for holds no data yet, so that a link may lead there.
 */
export function assertOwnSite(
  headers: IncomingHttpHeaders,
  accepted: AcceptedHost,
  isPage = false,
): void {
  const { host, origin } = headers;
  if (host !== undefined && !isAccepted(host.replace(/:\d*$/, ''), accepted)) {
    const message =
      'This server answers to the names localhost, 127.0.0.1 and [::1] only: call it by one of them. A gateway that ' +
      'has a token answers to any name.';
    throw new GatewayError('wrong_host', message);
  }
  const site = headers['sec-fetch-site'] ?? 'none';
  const isAskedHere = site === 'same-origin' || site === 'none';
  if (isAskedHere && (origin === undefined || isOriginOf(origin, host))) return;
  if (isPage && isLink(headers)) return;
  const message = 'Web pages of other sites cannot use this server.';
  throw new GatewayError('foreign_page', message);
}

/** Somebody has followed a link: the answer is for a window of its own, which the other site cannot look into. */
function isLink({ origin, ...headers }: IncomingHttpHeaders): boolean {
  const isWindow = headers['sec-fetch-dest'] === 'document';
  return isWindow && headers['sec-fetch-mode'] === 'navigate' && origin === undefined;
}

/** The port decides nothing: it may be that of a tunnel that leads here. */
function isAccepted(name: string, accepted: AcceptedHost): boolean {
  if (accepted === 'any' || isThisMachine(name)) return true;
  return accepted === 'address' && isIP(withoutBrackets(name)) !== 0;
}

/** The scheme decides nothing: a server in front may speak TLS. */
function isOriginOf(origin: string, host: string | undefined): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}
