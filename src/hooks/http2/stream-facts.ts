import type { OutgoingHttpHeaders } from 'node:http2';
import type { Dict } from '../../base/types.ts';

const ours = /^x-batchling$/i;

/** Events of a real stream that its client hears as they are. */
export const passedOn = [
  'aborted',
  'continue',
  'frameError',
  'headers',
  'push',
  'ready',
  'response',
  'timeout',
  'trailers',
  'wantTrailers',
];

/** Whether the request opts out of capture. */
export function isOff(headers: OutgoingHttpHeaders): boolean {
  return Object.keys(headers).some((name) => ours.test(name) && headers[name] === 'off');
}

/** The same without the header that is meant for us; nothing else is touched. */
export function withoutOurs(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  if (!isOff(headers)) return headers;
  const kept = Object.keys(headers).filter((name) => !ours.test(name));
  return Object.fromEntries(kept.map((name) => [name, headers[name]]));
}

/** Lower-case names; the values of a repeated one are joined. */
export function asDict(headers: OutgoingHttpHeaders): Dict {
  const named = Object.entries(headers).filter(
    ([name, value]) => !name.startsWith(':') && value !== undefined,
  );
  return Object.fromEntries(
    named.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]),
  );
}

export function expectsContinue(headers: OutgoingHttpHeaders): boolean {
  return /^100-continue$/i.test(asDict(headers).expect ?? '');
}

/** The server's own answer to `expect: 100-continue`, which is told by two events. */
export function isContinue(event: string, headers: unknown): boolean {
  const { ':status': status } = (headers ?? {}) as { ':status'?: unknown };
  return event === 'continue' || (event === 'headers' && status === 100);
}
