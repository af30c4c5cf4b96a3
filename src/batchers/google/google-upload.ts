import { UnknownOutcomeError } from '../../base/errors.ts';
import { field, text } from '../../base/json.ts';
import type { StreamedBody, Wire, WireReply } from '../../http/wire.ts';
import { expectOk } from '../shared/replies.ts';
import { judgeCreation, judgeGoogle, judgeSession } from './google-judge.ts';
import { uploadUrl } from './google-paths.ts';

/** What Google's own clients send at once; a multiple of 256 KiB, as it has to be. */
const chunkBytes = 8 * 1024 * 1024;
const mimeType = 'application/jsonl';

/** Uploads a file in chunks and returns its name, `files/abc`. One chunk is held in memory at a time. */
export async function uploadFile(
  wire: Wire,
  displayName: string,
  file: StreamedBody,
  size = chunkBytes,
): Promise<string> {
  const session = withHiddenAddress(wire, await startUpload(wire, displayName, file.length));
  let offset = 0;
  for await (const chunk of chunksOf(file, size)) {
    const isLast = offset + chunk.length === file.length;
    const reply = await sendChunk(session, chunk, offset, isLast);
    offset += chunk.length;
    if (isLast) return nameOf(await reply.json());
    await reply.discard();
  }
  throw new UnknownOutcomeError(`The upload ended after ${offset} of ${file.length} bytes.`);
}

async function startUpload(wire: Wire, displayName: string, length: number): Promise<string> {
  const request = {
    method: 'POST',
    path: uploadUrl(wire.base),
    headers: {
      'content-type': 'application/json',
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(length),
      'x-goog-upload-header-content-type': mimeType,
    },
    body: JSON.stringify({ file: { displayName, mimeType, sizeBytes: String(length) } }),
  } as const;
  const reply = await expectOk(wire, request, judgeCreation);
  await reply.discard();
  const url = reply.headers['x-goog-upload-url'];
  if (url !== undefined && URL.canParse(url)) return url;
  throw new UnknownOutcomeError('The provider did not say where to upload the file.');
}

/**
 * A wire to the address of an upload. The address alone gives the right to write, so messages do not show it,
 * and the wire keeps credentials from it if it is not of a declared origin.
 */
export function withHiddenAddress(wire: Wire, url: string): Wire {
  const secrets = [url, ...new URL(url).searchParams.values()].filter(({ length }) => length >= 8);
  const hide = (told: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, '[redacted]'), told);
  return {
    ...wire,
    redact: (told) => hide(wire.redact(told)),
    send: (request) => wire.send({ ...request, path: url }),
  };
}

async function sendChunk(
  session: Wire,
  body: StreamedBody,
  offset: number,
  isLast: boolean,
): Promise<WireReply> {
  const request = {
    method: 'POST',
    path: 'the address of the upload',
    headers: {
      'x-goog-upload-offset': String(offset),
      'x-goog-upload-command': isLast ? 'upload, finalize' : 'upload',
    },
    body,
  } as const;
  const reply = await expectOk(session, request, judgeSession(judgeGoogle));
  const status = reply.headers['x-goog-upload-status'];
  if (status === (isLast ? 'final' : 'active')) return reply;
  await reply.discard();
  throw new UnknownOutcomeError(`An upload that should go on is "${status ?? 'of no state'}".`);
}

function nameOf(stored: unknown): string {
  const name = text(field(field(stored, 'file'), 'name'));
  if (name?.startsWith('files/')) return name;
  throw new UnknownOutcomeError('The provider stored a file without a name.');
}

/** The same bytes in chunks of this size, the last one perhaps shorter. */
export async function* chunksOf(
  file: Pick<StreamedBody, 'chunks'>,
  size: number,
): AsyncIterable<StreamedBody> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of file.chunks()) {
    let rest = bytes;
    while (rest.length > 0) {
      const taken = rest.subarray(0, size - length);
      rest = rest.subarray(taken.length);
      parts.push(taken);
      length += taken.length;
      if (length < size) continue;
      yield bodyOf(parts, length);
      parts = [];
      length = 0;
    }
  }
  if (length > 0) yield bodyOf(parts, length);
}

function bodyOf(parts: readonly Uint8Array[], length: number): StreamedBody {
  return { length, chunks: () => parts };
}
