import { type Exchange, jsonReply, Refusal, type Reply } from '../server/exchange.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { page } from './page.ts';

export interface StoredFile {
  id: string;
  account: string;
  displayName: string | undefined;
  mimeType: string;
  chunks: Buffer[];
  bytes: number;
  createdAt: number;
  /** Written by a batch. Only such files can be read again. */
  isOutput: boolean;
  /** How many reads of the content still answer that there is none. */
  readsNotFound: number;
}

type NewFile = Pick<StoredFile, 'account' | 'displayName' | 'mimeType' | 'chunks' | 'isOutput'> &
  Partial<StoredFile>;

export type Files = ReturnType<typeof createFiles>;

const twoDays = 48 * 3600 * 1000;

export function createFiles(world: World) {
  const stored = new Map<string, StoredFile>();

  function add(file: NewFile): StoredFile {
    const complete: StoredFile = {
      id: newId(file.isOutput ? 'batch-' : '').toLowerCase(),
      bytes: file.chunks.reduce((sum, chunk) => sum + chunk.length, 0),
      createdAt: world.clock.now(),
      readsNotFound: 0,
      ...file,
    };
    stored.set(complete.id, complete);
    return complete;
  }

  function isThere({ isOutput, createdAt }: StoredFile): boolean {
    const age = world.clock.now() - createdAt;
    if (isOutput) return age < world.settings.resultsKept;
    return age >= world.settings.fileLag && age < twoDays;
  }

  function find(id: string, account: string): StoredFile | undefined {
    const file = stored.get(id);
    return file?.account === account && isThere(file) ? file : undefined;
  }

  function demand(id: string, account: string): StoredFile {
    const file = find(id, account);
    if (file !== undefined) return file;
    // Files of others and files that never existed get the same answer.
    const message = `You do not have permission to access the File ${id} or it may not exist.`;
    throw new Refusal(403, message);
  }

  function show(file: StoredFile): object {
    const { id, displayName, mimeType, bytes, createdAt, isOutput } = file;
    return {
      name: `files/${id}`,
      ...(displayName !== undefined && { displayName }),
      mimeType,
      sizeBytes: String(bytes),
      createTime: new Date(createdAt).toISOString(),
      updateTime: new Date(createdAt).toISOString(),
      expirationTime: new Date(createdAt + twoDays).toISOString(),
      uri: `https://generativelanguage.googleapis.com/v1beta/files/${id}`,
      state: 'ACTIVE',
      source: isOutput ? 'GENERATED' : 'UPLOADED',
    };
  }

  return {
    add,
    demand,
    show,

    get: ({ account }: Exchange, id: string): Reply => jsonReply(show(demand(id, account))),

    list({ account, query }: Exchange): Reply {
      const mine = [...stored.values()].filter((file) => file.account === account && isThere(file));
      return jsonReply(page('files', mine.map(show), query));
    },

    remove({ account }: Exchange, id: string): Reply {
      demand(id, account);
      stored.delete(id);
      return jsonReply({});
    },

    download({ account, query }: Exchange, id: string): Reply {
      const file = demand(id, account);
      if (query.get('alt') !== 'media') throw new Refusal(400, 'Downloads need alt=media.');
      if (!file.isOutput) throw new Refusal(400, `File ${id} is not a generated file.`);
      if (file.readsNotFound > 0) {
        file.readsNotFound -= 1;
        throw new Refusal(404, `File ${id} was not found.`);
      }
      const headers = { 'content-type': 'application/octet-stream' };
      return { status: 200, headers, body: file.chunks };
    },
  };
}
