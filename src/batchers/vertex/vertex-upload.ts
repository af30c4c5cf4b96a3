import { UnknownOutcomeError } from '../../base/errors.ts';
import { field } from '../../base/json.ts';
import type { StreamedBody, Wire, WireReply, WireRequest } from '../../http/wire.ts';
import { judgeSession } from '../google/google-judge.ts';
import { chunksOf, withHiddenAddress } from '../google/google-upload.ts';
import type { ReplyJudge } from '../shared/judge-reply.ts';
import { expectOk, okReply } from '../shared/replies.ts';
import { judgeVertex } from './vertex-judge.ts';
import { type StoredObject, storageOf } from './vertex-storage.ts';

/** A multiple of 256 KiB, as chunks have to be. */
const chunkBytes = 8 * 1024 * 1024;
const mimeType = 'application/jsonl';
/** How Cloud Storage says that a chunk was stored and that more may come. */
const resumeIncomplete = 308;

/**
 * Stores an object: at once if it fits into one chunk, else chunk by chunk. How long it is need not be known
 * before its end; two chunks are held in memory at a time.
 */
export async function uploadObject(
  wire: Wire,
  object: StoredObject,
  file: Pick<StreamedBody, 'chunks'>,
  size = chunkBytes,
): Promise<void> {
  let session: Wire | undefined;
  let held: StreamedBody | undefined;
  let offset = 0;
  for await (const chunk of chunksOf(file, size)) {
    if (held !== undefined) {
      session ??= withHiddenAddress(wire, await startSession(wire, object));
      await sendChunk(session, held, offset);
      offset += held.length;
    }
    held = chunk;
  }
  const last = held ?? { length: 0, chunks: () => [] };
  const reply = session
    ? await sendLast(session, last, offset)
    : await sendWhole(wire, object, last);
  if (field(await reply.json(), 'name') === object.name) return;
  throw new UnknownOutcomeError('Cloud Storage did not say that it has stored the object.');
}

/** A bucket that is not there will not be there later either. */
const judgeUpload: ReplyJudge = (reply) => {
  const verdict = judgeVertex(reply);
  return verdict.meaning === 'gone' ? { meaning: 'refused', next: 'fail' } : verdict;
};

const judgeChunk = judgeSession(judgeVertex);

function uploadUrl({ base }: Wire, { bucket, name }: StoredObject, type: string): string {
  const query = new URLSearchParams({ uploadType: type, name });
  return `${storageOf(base)}/upload/storage/v1/b/${encodeURIComponent(bucket)}/o?${query}`;
}

function sendWhole(wire: Wire, object: StoredObject, body: StreamedBody): Promise<WireReply> {
  const path = uploadUrl(wire, object, 'media');
  const headers = { 'content-type': mimeType };
  return expectOk(wire, { method: 'POST', path, headers, body }, judgeUpload);
}

async function startSession(wire: Wire, object: StoredObject): Promise<string> {
  const path = uploadUrl(wire, object, 'resumable');
  const headers = { 'content-type': 'application/json', 'x-upload-content-type': mimeType };
  const request = { method: 'POST', path, headers, body: '{}' } as const;
  const reply = await expectOk(wire, request, judgeUpload);
  await reply.discard();
  const { location } = reply.headers;
  if (location !== undefined && URL.canParse(location)) return location;
  throw new UnknownOutcomeError('Cloud Storage did not say where to upload the object.');
}

async function sendChunk(session: Wire, chunk: StreamedBody, offset: number): Promise<void> {
  const last = offset + chunk.length - 1;
  const request = chunkRequest(chunk, `bytes ${offset}-${last}/*`);
  const reply = await session.send(request);
  if (reply.status !== resumeIncomplete) {
    await (await okReply(session, request, reply, judgeChunk)).discard();
    throw new UnknownOutcomeError('Cloud Storage ended an upload that should go on.');
  }
  await reply.discard();
  if (reply.headers.range === `bytes=0-${last}`) return;
  throw new UnknownOutcomeError('Cloud Storage has not stored a chunk of an upload as a whole.');
}

function sendLast(session: Wire, chunk: StreamedBody, offset: number): Promise<WireReply> {
  const total = offset + chunk.length;
  const request = chunkRequest(chunk, `bytes ${offset}-${total - 1}/${total}`);
  return expectOk(session, request, judgeChunk);
}

function chunkRequest(body: StreamedBody, range: string): WireRequest {
  return {
    method: 'PUT',
    path: 'the address of the upload',
    headers: { 'content-type': mimeType, 'content-range': range },
    body,
  };
}
