import { randomBytes } from 'node:crypto';
import type { ProviderParts } from '../openai-like/description.ts';
import { invalid, missing } from '../openai-like/errors.ts';
import type { StoredFile } from '../openai-like/files/files.ts';
import { type Exchange, Refusal, type Reply, readBytes } from '../server/exchange.ts';
import { otherHost } from '../server/other-host.ts';
import type { Route } from '../world/provider.ts';

const lifetime = 3_600_000;

interface SignedUpload {
  file: StoredFile;
  signature: string;
  expiresAt: number;
}

/**
 * Uploads in two steps: a description of the file is answered with a redirect to a signed URL, which takes the
 * bytes. It is on another host than the API and takes no key: a storage service refuses two permissions.
 */
export function signedUploads({ world, like, files }: ProviderParts): readonly Route[] {
  const uploads = new Map<string, SignedUpload>();

  async function describe(exchange: Exchange): Promise<Reply> {
    const fields = await readDescription(exchange);
    const filename = demand(fields, 'file_name');
    if (demand(fields, 'file_type') !== 'jsonl') throw invalid('file_type', "must be 'jsonl'.");
    const purpose = demand(fields, 'purpose');
    if (purpose !== like.purpose) throw invalid('purpose', `must be '${like.purpose}'.`);
    const file = files.add({ account: exchange.account, filename, purpose, chunks: [] });
    const signature = randomBytes(24).toString('hex');
    const place = randomBytes(12).toString('hex');
    uploads.set(place, { file, signature, expiresAt: world.clock.now() + lifetime });
    const location =
      `${otherHost(exchange.origin)}/uploads/${place}` +
      `?X-Amz-Expires=${lifetime / 1000}&X-Amz-Signature=${signature}`;
    return {
      status: 302,
      headers: { location, 'x-together-file-id': file.id },
      body: '',
    };
  }

  async function store({ headers, query, body }: Exchange, place: string): Promise<Reply> {
    if (headers.authorization !== undefined) {
      return refusal(400, 'InvalidArgument', 'Only one auth mechanism allowed');
    }
    const upload = uploads.get(place);
    const signature = query.get('X-Amz-Signature') ?? '';
    if (upload === undefined || upload.signature !== signature) {
      return refusal(403, 'SignatureDoesNotMatch', `The signature ${signature} does not match.`);
    }
    if (world.clock.now() >= upload.expiresAt) {
      return refusal(403, 'AccessDenied', 'Request has expired');
    }
    const limit = world.settings.limits[like.name]?.bytesPerBatch ?? like.bytesPerBatch;
    const bytes = await readBytes(body, limit);
    upload.file.chunks = [bytes];
    upload.file.bytes = bytes.length;
    return { status: 200, headers: { etag: `"${place}"` }, body: '' };
  }

  return [
    ['POST', `${like.root}${like.filesPath}`, describe],
    ['PUT', '/uploads/:id', store, 'signed'],
  ];
}

/** The official SDK writes the description into the query and into the form. */
async function readDescription({ headers, query, body }: Exchange): Promise<URLSearchParams> {
  const type = String(headers['content-type'] ?? '');
  if (!type.startsWith('application/x-www-form-urlencoded')) {
    throw new Refusal(400, 'Expected application/x-www-form-urlencoded; the file goes elsewhere.');
  }
  const form = new URLSearchParams((await readBytes(body)).toString());
  return form.size > 0 ? form : query;
}

function demand(fields: URLSearchParams, name: string): string {
  const value = fields.get(name);
  if (value === null || value === '') throw missing(name);
  return value;
}

/** A refusal as storage services write it: it quotes the signature. */
function refusal(status: number, code: string, message: string): Reply {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
  };
}
