import { type Exchange, jsonReply, Refusal, type Reply } from '../../server/exchange.ts';
import { newId } from '../../world/random.ts';
import type { World } from '../../world/world.ts';
import type { OpenAILike } from '../description.ts';
import { invalid } from '../errors.ts';
import { receiveUpload } from './upload.ts';

export interface StoredFile {
  id: string;
  account: string;
  filename: string;
  purpose: string;
  chunks: Buffer[];
  bytes: number;
  createdAt: number;
  /** In seconds. */
  lifetime: number;
  /** How many reads of the content still answer 404. */
  readsNotFound: number;
}

export type NewFile = Pick<StoredFile, 'account' | 'filename' | 'purpose' | 'chunks'> &
  Partial<StoredFile>;

export type Files = ReturnType<typeof createFiles>;

export const thirtyDays = 30 * 24 * 3600;

export function createFiles(world: World, like: OpenAILike) {
  const stored = new Map<string, StoredFile>();

  function add(file: NewFile): StoredFile {
    const complete: StoredFile = {
      id: newId(like.fileIdPrefix),
      bytes: file.chunks.reduce((sum, chunk) => sum + chunk.length, 0),
      createdAt: world.clock.now(),
      lifetime: thirtyDays,
      readsNotFound: 0,
      ...file,
    };
    stored.set(complete.id, complete);
    return complete;
  }

  /** Uploads are found only after `fileLag`, and files are gone after their lifetime. */
  function isThere({ purpose, createdAt, lifetime }: StoredFile): boolean {
    const age = world.clock.now() - createdAt;
    if (age >= lifetime * 1000) return false;
    if (purpose === 'batch_output') return age < world.settings.resultsKept;
    return purpose !== like.purpose || age >= world.settings.fileLag;
  }

  function find(id: string, account: string): StoredFile | undefined {
    const file = stored.get(id);
    return file?.account === account && isThere(file) ? file : undefined;
  }

  const ofAccount = (account: string) =>
    [...stored.values()].filter((file) => file.account === account);

  const statusOf = (file: StoredFile) => like.fileStatus?.(file, world) ?? 'processed';

  /** Finds a file that a batch can be made of. */
  function findInput(id: string, account: string): StoredFile | undefined {
    const file = find(id, account);
    if (file === undefined || statusOf(file) === 'processed') return file;
    throw new Refusal(400, `The file ${id} is not processed: its status is ${statusOf(file)}.`);
  }

  function demand(id: string, account: string): StoredFile {
    const file = find(id, account);
    if (file === undefined) {
      throw new Refusal(404, `No such File object: ${id}`, { param: 'id' });
    }
    return file;
  }

  const show = (file: StoredFile) => like.fileObject(fileObject(file, statusOf(file)));

  return {
    add,
    find,
    findInput,
    demand,
    show,

    /** A file that can no longer be read grows all the same. */
    append(id: string, bytes: Buffer): void {
      const file = stored.get(id);
      if (file === undefined) return;
      file.chunks.push(bytes);
      file.bytes += bytes.length;
    },

    async upload(exchange: Exchange): Promise<Reply> {
      const limit = world.settings.limits[like.name]?.bytesPerBatch ?? like.bytesPerBatch;
      const { account } = exchange;
      const upload = await receiveUpload(exchange, limit, like);
      like.admitFile?.(upload, ofAccount(account), world);
      return jsonReply(show(add({ ...upload, account })), like.uploadStatus);
    },

    list({ account, query }: Exchange): Reply {
      const purpose = query.get('purpose');
      const mine = ofAccount(account).filter(
        (file) => purpose === null || file.purpose === purpose,
      );
      if (query.get('order') !== 'asc') mine.reverse();
      return jsonReply(like.page(mine.map(show), query, { standard: 10_000, most: 10_000 }));
    },

    get: ({ account }: Exchange, id: string): Reply => jsonReply(show(demand(id, account))),

    remove({ account }: Exchange, id: string): Reply {
      demand(id, account);
      stored.delete(id);
      return jsonReply({ id, object: 'file', deleted: true });
    },

    content({ account }: Exchange, id: string): Reply {
      const file = demand(id, account);
      if (file.readsNotFound > 0) {
        file.readsNotFound -= 1;
        throw new Refusal(404, `No such File object: ${id}`, { param: 'id' });
      }
      const headers = { 'content-type': 'application/octet-stream' };
      return { status: 200, headers, body: file.chunks };
    },
  };
}

function fileObject(file: StoredFile, status: string) {
  const createdAt = Math.floor(file.createdAt / 1000);
  return {
    id: file.id,
    object: 'file',
    bytes: file.bytes,
    created_at: createdAt,
    filename: file.filename,
    purpose: file.purpose,
    status,
    expires_at: createdAt + file.lifetime,
  };
}

/** `expires_after` of an upload and `output_expires_after` of a batch share their rules. */
export function checkLifetime(param: string, anchor: unknown, seconds: unknown): number {
  if (anchor !== 'created_at') throw invalid(`${param}[anchor]`, "must be 'created_at'.");
  const value = Number(seconds);
  if (!Number.isInteger(value) || value < 3600 || value > thirtyDays) {
    throw invalid(`${param}[seconds]`, 'must be between 3600 and 2592000.');
  }
  return value;
}
