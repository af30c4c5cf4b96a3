import { UnknownOutcomeError } from '../../base/errors.ts';
import { text } from '../../base/json.ts';
import type { StreamedBody, Wire, WireReply } from '../../http/wire.ts';
import type { BatchFailure } from '../batcher.ts';
import { ReplyError } from '../shared/replies.ts';

/** Where the bytes of a file go, and what the file is called from then on. */
export interface UploadPlace {
  readonly fileId: string;
  /** A signed URL: whoever has it can write the file. */
  readonly url: string;
}

/** The place that a redirect names. Without one nothing is stored, and the upload can be repeated. */
export async function uploadPlace(wire: Wire, reply: WireReply): Promise<UploadPlace> {
  const { location = '', 'x-together-file-id': id } = reply.headers;
  await reply.discard();
  const fileId = text(id);
  if (fileId === undefined || location === '' || !URL.canParse(location, wire.base)) {
    throw new UnknownOutcomeError('The provider redirected an upload without saying where to.');
  }
  return { fileId, url: new URL(location, wire.base).href };
}

/** The content type is that of the official SDK, because the signature may cover it. */
export async function putFile(wire: Wire, { url }: UploadPlace, file: StreamedBody): Promise<void> {
  const reply = await wire.send({
    method: 'PUT',
    path: url,
    headers: { 'content-type': 'application/octet-stream' },
    body: file,
    signed: true,
  });
  // Its body is not read: a storage service quotes the URL and what was signed.
  await reply.discard();
  const { status } = reply;
  if (status >= 200 && status < 300) return;
  throw new ReplyError({ method: 'PUT', path: 'the signed URL' }, failureOf(status), status);
}

/**
 * Nothing is stored, and the next attempt gets a fresh URL. So no status is about the API key: a URL that
 * has expired is answered with 403.
 */
function failureOf(status: number): BatchFailure {
  const code = `http_${status}`;
  const message = 'The storage service of Together AI did not take the file.';
  if (status === 413) return { code, message, meaning: 'refused', next: 'smaller' };
  return { code, message, meaning: 'busy', next: 'later' };
}
