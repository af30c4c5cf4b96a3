import type { Wire, WireReply, WireRequest } from '../../http/wire.ts';
import type { ReplyJudge } from './judge-reply.ts';
import { okReply, ReplyError } from './replies.ts';

export function isRedirect({ status }: WireReply): boolean {
  return status >= 300 && status < 400;
}

/** Copies of OpenAI speak of the URL of a result, so the id of a file may be one. */
export function isUrl(id: string): boolean {
  return /^https?:\/\//i.test(id);
}

/**
 * A file of results, at a path of the API or at a URL that the provider names in its place. Some keep such files
 * with a storage service and redirect there: the URL is signed, so that it gets no key and is shown to nobody.
 */
export async function resultReply(wire: Wire, path: string, judge: ReplyJudge): Promise<WireReply> {
  if (isUrl(path)) return signedReply(wire, path);
  const request: WireRequest = { method: 'GET', path };
  const reply = await wire.send(request);
  const { location = '' } = reply.headers;
  if (!isRedirect(reply) || !URL.canParse(location, wire.base)) {
    return okReply(wire, request, reply, judge);
  }
  await reply.discard();
  return signedReply(wire, new URL(location, wire.base).href);
}

async function signedReply(wire: Wire, url: string): Promise<WireReply> {
  const reply = await wire.send({ method: 'GET', path: url, signed: true });
  const { status } = reply;
  if (status >= 200 && status < 300) return reply;
  // Its body is not read: a storage service quotes the URL and what was signed.
  await reply.discard();
  // A URL that has expired is answered with 403, which says nothing about the key or the results.
  const meaning = status === 404 || status === 410 ? 'gone' : 'busy';
  const message = 'The service that stores the results did not send them.';
  const failure = { code: `http_${status}`, message, meaning, next: 'later' } as const;
  throw new ReplyError({ method: 'GET', path: 'the signed URL' }, failure, status);
}
