import { type Exchange, Refusal, type Reply, readBytes } from '../server/exchange.ts';
import type { World } from '../world/world.ts';

interface StoredObject {
  account: string;
  chunks: Buffer[];
  createdAt: number;
  /** Written by a job. */
  isOutput: boolean;
  /** How many reads of the content still answer that there is none. */
  readsNotFound: number;
}

export type Objects = ReturnType<typeof createObjects>;

const pageSize = 1_000;

/** The little of S3 that jobs need. Buckets stand in the path. */
export function createObjects(world: World) {
  const stored = new Map<string, StoredObject>();

  function isThere({ isOutput, createdAt }: StoredObject): boolean {
    return !isOutput || world.clock.now() - createdAt < world.settings.resultsKept;
  }

  /** `uri`: `s3://bucket/key`. */
  function find(uri: string, account: string): StoredObject | undefined {
    const object = stored.get(uri);
    return object?.account === account && isThere(object) ? object : undefined;
  }

  return {
    find,

    put(uri: string, object: StoredObject): void {
      stored.set(uri, object);
    },

    async write({ account, path, body }: Exchange): Promise<Reply> {
      const chunks = [await readBytes(body)];
      const createdAt = world.clock.now();
      stored.set(uriOf(path), { account, chunks, createdAt, isOutput: false, readsNotFound: 0 });
      return { status: 200, headers: { etag: '"etag"' }, body: '' };
    },

    read(exchange: Exchange): Reply {
      const uri = uriOf(exchange.path);
      const object = find(uri, exchange.account);
      if (object === undefined) {
        if (stored.has(uri) && stored.get(uri)?.account !== exchange.account) throw denied();
        throw noSuchKey();
      }
      if (object.readsNotFound > 0) {
        object.readsNotFound -= 1;
        throw noSuchKey();
      }
      const headers = { 'content-type': 'binary/octet-stream' };
      return { status: 200, headers, body: object.chunks };
    },

    remove({ account, path }: Exchange): Reply {
      const uri = uriOf(path);
      if (stored.get(uri)?.account === account) stored.delete(uri);
      return { status: 204, body: '' };
    },

    list({ account, query, path }: Exchange): Reply {
      const bucket = `${uriOf(path)}/`;
      if (query.get('list-type') !== '2') throw new Refusal(400, 'list-type must be 2');
      const prefix = `${bucket}${query.get('prefix') ?? ''}`;
      const all = [...stored]
        .filter(([uri, object]) => uri.startsWith(prefix) && object.account === account)
        .map(([uri]) => uri.slice(bucket.length))
        .sort();
      const start = Number(query.get('continuation-token') ?? 0);
      const end = start + Number(query.get('max-keys') ?? pageSize);
      const keys = all.slice(start, end);
      const isCut = end < all.length;
      const body = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
        `<KeyCount>${keys.length}</KeyCount><IsTruncated>${isCut}</IsTruncated>`,
        ...keys.map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key></Contents>`),
        ...(isCut ? [`<NextContinuationToken>${end}</NextContinuationToken>`] : []),
        '</ListBucketResult>',
      ].join('');
      return { status: 200, headers: { 'content-type': 'application/xml' }, body };
    },
  };
}

/** Every bucket exists, except buckets whose names begin with `missing`. */
function uriOf(path: string): string {
  const parts = path.slice(1).split('/').map(decodeURIComponent);
  if (parts[0]?.startsWith('missing'))
    throw s3Refusal(404, 'NoSuchBucket', 'The specified bucket does not exist');
  return `s3://${parts.join('/')}`;
}

function denied(): Refusal {
  return s3Refusal(403, 'AccessDenied', 'Access Denied');
}

function noSuchKey(): Refusal {
  return s3Refusal(404, 'NoSuchKey', 'The specified key does not exist.');
}

function s3Refusal(status: number, code: string, message: string): Refusal {
  return new Refusal(status, message, { code });
}

/** S3 tells its errors in XML. */
export function xmlError({ message, details }: Refusal): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${details.code ?? 'InvalidRequest'}</Code><Message>${message}</Message></Error>`;
}
