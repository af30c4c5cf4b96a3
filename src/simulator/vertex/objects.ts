import { type Exchange, jsonReply, Refusal, type Reply } from '../server/exchange.ts';
import type { World } from '../world/world.ts';

export interface StoredObject {
  account: string;
  bucket: string;
  name: string;
  contentType: string;
  chunks: Buffer[];
  createdAt: number;
  /** Written by a job. */
  isOutput: boolean;
  /** How many reads of the content still answer that there is none. */
  readsNotFound: number;
}

export type Objects = ReturnType<typeof createObjects>;

const pageSize = 1000;

/** The little of Cloud Storage that batches need. */
export function createObjects(world: World) {
  const stored = new Map<string, StoredObject>();
  const keyOf = (bucket: string, name: string) => `${bucket}/${name}`;

  function isThere({ isOutput, createdAt }: StoredObject): boolean {
    return !isOutput || world.clock.now() - createdAt < world.settings.resultsKept;
  }

  function find(bucket: string, name: string, account: string): StoredObject | undefined {
    const object = stored.get(keyOf(bucket, name));
    return object?.account === account && isThere(object) ? object : undefined;
  }

  function demand(exchange: Exchange): StoredObject {
    const { bucket, name } = objectIn(exchange.path);
    demandBucket(bucket);
    const object = find(bucket, name, exchange.account);
    if (object !== undefined) return object;
    if (
      stored.has(keyOf(bucket, name)) &&
      stored.get(keyOf(bucket, name))?.account !== exchange.account
    ) {
      const right = "Permission 'storage.objects.get' denied on resource (or it may not exist).";
      throw new Refusal(
        403,
        `The caller has no access to the Google Cloud Storage object. ${right}`,
      );
    }
    throw new Refusal(404, `No such object: ${bucket}/${name}`);
  }

  return {
    find,

    put(object: StoredObject): StoredObject {
      stored.set(keyOf(object.bucket, object.name), object);
      return object;
    },

    read(exchange: Exchange): Reply {
      const object = demand(exchange);
      const alt = exchange.query.get('alt') ?? 'json';
      if (alt === 'json') return jsonReply(show(object));
      if (alt !== 'media') throw new Refusal(400, `Invalid value for alt: ${alt}`);
      if (object.readsNotFound > 0) {
        object.readsNotFound -= 1;
        throw new Refusal(404, `No such object: ${object.bucket}/${object.name}`);
      }
      const headers = { 'content-type': object.contentType };
      return { status: 200, headers, body: object.chunks };
    },

    remove(exchange: Exchange): Reply {
      const { bucket, name } = demand(exchange);
      stored.delete(keyOf(bucket, name));
      return { status: 204, body: '' };
    },

    list({ account, query }: Exchange, bucket: string): Reply {
      demandBucket(bucket);
      const known = ['prefix', 'pageToken', 'maxResults', 'fields', 'delimiter', 'projection'];
      const unknown = [...query.keys()].find((name) => !known.includes(name));
      if (unknown !== undefined) throw new Refusal(400, `Unknown parameter: ${unknown}`);
      const prefix = query.get('prefix') ?? '';
      const all = [...stored.values()]
        .filter((object) => object.bucket === bucket && object.account === account)
        .filter((object) => object.name.startsWith(prefix) && isThere(object))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
      const start = Number(Buffer.from(query.get('pageToken') ?? '', 'base64').toString() || 0);
      const end = start + Math.min(Number(query.get('maxResults') ?? pageSize), pageSize);
      const items = all.slice(start, end).map(show);
      return jsonReply({
        kind: 'storage#objects',
        ...(end < all.length && { nextPageToken: Buffer.from(String(end)).toString('base64') }),
        ...(items.length > 0 && { items }),
      });
    },
  };
}

/** Bucket and object of `/storage/v1/b/bucket/o/a%2Fb`. */
function objectIn(path: string): { bucket: string; name: string } {
  const [, bucket = '', name = ''] = /\/b\/([^/]+)\/o\/([^/]+)$/.exec(path) ?? [];
  return { bucket: decodeURIComponent(bucket), name: decodeURIComponent(name) };
}

/** Every bucket exists, except buckets whose names begin with `missing`. */
export function demandBucket(bucket: string): void {
  if (bucket.startsWith('missing')) throw new Refusal(404, 'The specified bucket does not exist.');
}

export function show(object: StoredObject): object {
  const { bucket, name, contentType, chunks, createdAt } = object;
  const time = new Date(createdAt).toISOString();
  return {
    kind: 'storage#object',
    id: `${bucket}/${name}/1`,
    name,
    bucket,
    generation: '1',
    contentType,
    size: String(chunks.reduce((sum, chunk) => sum + chunk.length, 0)),
    timeCreated: time,
    updated: time,
  };
}
