import { type Exchange, jsonReply, Refusal, type Reply, readBytes } from '../server/exchange.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { demandBucket, type Objects, show } from './objects.ts';

/** Every chunk but the last is a multiple of this. */
const granularity = 256 * 1024;

interface Session {
  account: string;
  bucket: string;
  name: string;
  contentType: string;
  chunks: Buffer[];
  received: number;
}

/** Uploads to Cloud Storage: at once (`media`), or chunk by chunk into a session (`resumable`). */
export function createUploads(world: World, objects: Objects) {
  const sessions = new Map<string, Session>();

  function store({ account, bucket, name, contentType, chunks }: Omit<Session, 'received'>): Reply {
    const createdAt = world.clock.now();
    const written = { isOutput: false, readsNotFound: 0, createdAt };
    return jsonReply(show(objects.put({ account, bucket, name, contentType, chunks, ...written })));
  }

  return {
    async start(exchange: Exchange, bucket: string): Promise<Reply> {
      const { account, query, headers, origin, body } = exchange;
      demandBucket(bucket);
      const name = query.get('name');
      if (name === null || name === '') throw new Refusal(400, 'Required parameter: name');
      if (query.get('uploadType') === 'media') {
        const contentType = String(headers['content-type'] ?? 'application/octet-stream');
        return store({ account, bucket, name, contentType, chunks: [await readBytes(body)] });
      }
      if (query.get('uploadType') !== 'resumable') throw new Refusal(400, 'Invalid uploadType');
      await readBytes(body);
      const id = newId('ABgVH8');
      const contentType = String(headers['x-upload-content-type'] ?? 'application/octet-stream');
      sessions.set(id, { account, bucket, name, contentType, chunks: [], received: 0 });
      const place = `${origin}/upload/storage/v1/b/${encodeURIComponent(bucket)}/o`;
      const location = `${place}?uploadType=resumable&name=${encodeURIComponent(name)}&upload_id=${id}`;
      return { status: 200, headers: { location }, body: '' };
    },

    async receive({ query, headers, body }: Exchange): Promise<Reply> {
      const id = query.get('upload_id') ?? '';
      const session = sessions.get(id);
      if (session === undefined) throw new Refusal(404, 'No such upload session.');
      const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(String(headers['content-range']));
      if (range === null) throw new Refusal(400, 'Failed to parse Content-Range header.');
      const bytes = await readBytes(body);
      const [first, last, total] = [Number(range[1]), Number(range[2]), range[3]];
      if (first !== session.received || last - first + 1 !== bytes.length) {
        throw new Refusal(400, 'Content-Range does not fit what was received.');
      }
      session.chunks.push(bytes);
      session.received += bytes.length;
      if (total === '*') {
        if (bytes.length % granularity !== 0) throw new Refusal(400, 'Invalid chunk size.');
        return { status: 308, headers: { range: `bytes=0-${last}` }, body: '' };
      }
      if (Number(total) !== session.received) throw new Refusal(400, 'The upload is not whole.');
      sessions.delete(id);
      return store(session);
    },
  };
}
