import { type Exchange, Refusal } from '../../server/exchange.ts';
import { boundaryOf, MultipartError, readMultipart } from '../../server/multipart.ts';
import type { OpenAILike } from '../description.ts';
import { missing } from '../errors.ts';
import { checkLifetime, type NewFile, thirtyDays } from './files.ts';

/** Reads the form of `POST /v1/files`; the fields may come before or after the file. */
export async function receiveUpload(
  exchange: Exchange,
  limit: number,
  like: Pick<OpenAILike, 'purpose' | 'lifetimeOf' | 'typedParts'>,
): Promise<Omit<NewFile, 'account'>> {
  const boundary = boundaryOf(exchange.headers['content-type']);
  if (boundary === null) throw new Refusal(400, 'Expected multipart/form-data');
  const fields = new Map<string, string>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let filename: string | null = null;
  try {
    await readMultipart(exchange.body, boundary, (head) => {
      if (head.name !== 'file') {
        return (part) => fields.set(head.name, (fields.get(head.name) ?? '') + part.toString());
      }
      if (like.typedParts && head.contentType === null) {
        throw new Refusal(400, 'The file needs a content type of its own.');
      }
      filename = head.filename ?? '';
      return (part) => {
        bytes += part.length;
        if (bytes > limit) throw tooLarge(limit, bytes);
        chunks.push(part);
      };
    });
  } catch (error) {
    if (error instanceof MultipartError) throw new Refusal(400, error.message);
    throw error;
  }
  if (filename === null) throw missing('file');
  const purpose = fields.get('purpose') ?? (like.purpose === '' ? '' : undefined);
  if (purpose === undefined) throw missing('purpose');
  if (purpose !== like.purpose) {
    const message = `'${purpose}' is not one of ['${like.purpose}'] - 'purpose'`;
    throw new Refusal(400, message, { param: 'purpose' });
  }
  if (!(filename as string).endsWith('.jsonl')) {
    throw new Refusal(400, 'Invalid file format for Batch API. Must be .jsonl');
  }
  return { filename, purpose, chunks, lifetime: (like.lifetimeOf ?? lifetimeOf)(fields) };
}

function tooLarge(limit: number, bytes: number): Refusal {
  return new Refusal(413, `Maximum content size limit (${limit}) exceeded (${bytes} bytes read)`);
}

function lifetimeOf(fields: ReadonlyMap<string, string>): number {
  const anchor = fields.get('expires_after[anchor]');
  const seconds = fields.get('expires_after[seconds]');
  if (anchor === undefined && seconds === undefined) return thirtyDays;
  return checkLifetime('expires_after', anchor, seconds);
}
