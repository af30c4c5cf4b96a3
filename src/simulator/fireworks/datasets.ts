import { randomBytes } from 'node:crypto';
import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { isObject, type JsonObject } from '../server/json.ts';
import { boundaryOf, MultipartError, readMultipart } from '../server/multipart.ts';
import { otherHost } from '../server/other-host.ts';
import type { World } from '../world/world.ts';
import { fireworksDescription } from './description.ts';
import { datasetName } from './names.ts';

/** A dataset takes a while to be ready after its upload. */
const timeToReady = 20;
const urlLifetime = 10 * 60_000;

interface Dataset {
  id: string;
  account: string;
  exampleCount: string;
  createdAt: number;
  uploadedAt: number | null;
  /** By name; results are two files, one of them for errors. */
  files: Map<string, Buffer[]>;
  /** Written by a job. */
  sourceJob: string | null;
  readsNotFound: number;
}

export type Datasets = ReturnType<typeof createDatasets>;

export function createDatasets(world: World) {
  const stored = new Map<string, Dataset>();
  const downloads = new Map<string, { chunks: Buffer[]; signature: string; expiresAt: number }>();
  const now = () => world.clock.now();

  function find(id: string, account: string): Dataset | undefined {
    const dataset = stored.get(id);
    if (dataset?.account !== account) return undefined;
    const isGone =
      dataset.sourceJob !== null && now() - dataset.createdAt >= world.settings.resultsKept;
    return isGone ? undefined : dataset;
  }

  function demand({ account }: Exchange, id: string): Dataset {
    const dataset = find(id, account);
    if (dataset === undefined) throw new Refusal(404, `dataset ${id} not found`);
    return dataset;
  }

  function isReady({ uploadedAt }: Dataset): boolean {
    return uploadedAt !== null && now() - uploadedAt >= timeToReady;
  }

  const show = (dataset: Dataset): JsonObject => ({
    name: datasetName(dataset.id),
    createTime: new Date(dataset.createdAt).toISOString(),
    state: isReady(dataset) ? 'READY' : 'UPLOADING',
    status: { code: 'OK', message: '' },
    exampleCount: dataset.exampleCount,
    ...(dataset.sourceJob === null ? { userUploaded: {} } : { sourceJobName: dataset.sourceJob }),
  });

  function add(dataset: Pick<Dataset, 'id' | 'account'> & Partial<Dataset>): Dataset {
    const whole: Dataset = {
      exampleCount: '0',
      createdAt: now(),
      uploadedAt: null,
      files: new Map(),
      sourceJob: null,
      readsNotFound: 0,
      ...dataset,
    };
    stored.set(whole.id, whole);
    return whole;
  }

  return {
    add,

    /** The lines that a job can be made of. */
    linesOf(id: string, account: string): Buffer[] {
      const dataset = find(id, account);
      if (dataset === undefined) throw new Refusal(404, `dataset ${id} not found`);
      if (!isReady(dataset)) throw new Refusal(400, `dataset ${id} is not ready`);
      return [...dataset.files.values()].flat();
    },

    async create({ account, body }: Exchange): Promise<Reply> {
      const { datasetId: id, dataset, ...others } = await readJson(body);
      const [unknown] = Object.keys(others);
      if (unknown !== undefined) throw new Refusal(400, `unknown field ${unknown}`);
      if (typeof id !== 'string' || !/^[a-z][a-z\d-]{0,62}$/.test(id)) {
        throw new Refusal(400, `invalid dataset id ${id}`);
      }
      if (!isObject(dataset) || typeof dataset.exampleCount !== 'string') {
        throw new Refusal(400, 'exampleCount is required');
      }
      if (stored.has(id)) throw new Refusal(409, `dataset ${id} already exists`);
      return jsonReply(show(add({ id, account, exampleCount: dataset.exampleCount })));
    },

    async upload(exchange: Exchange, id: string): Promise<Reply> {
      const dataset = demand(exchange, id);
      const limit =
        world.settings.limits.fireworks?.bytesPerBatch ?? fireworksDescription.bytesPerBatch;
      const { filename, chunks } = await readFile(exchange, limit);
      dataset.files.set(filename, chunks);
      dataset.uploadedAt = now();
      return jsonReply({ filename, message: 'File uploaded successfully' });
    },

    get: (exchange: Exchange, id: string): Reply => jsonReply(show(demand(exchange, id))),

    remove(exchange: Exchange, id: string): Reply {
      demand(exchange, id);
      stored.delete(id);
      return jsonReply({});
    },

    /** Signed URLs on another host, which last ten minutes. */
    async endpoints(exchange: Exchange, id: string): Promise<Reply> {
      for await (const _ of exchange.body) throw new Refusal(400, 'a GET takes no body');
      const dataset = demand(exchange, id);
      if (dataset.readsNotFound > 0) {
        dataset.readsNotFound -= 1;
        throw new Refusal(404, `dataset ${id} not found`);
      }
      const urls = [...dataset.files].map(([name, chunks]) => {
        const place = randomBytes(12).toString('hex');
        const signature = randomBytes(24).toString('hex');
        downloads.set(place, { chunks, signature, expiresAt: now() + urlLifetime });
        const url = `${otherHost(exchange.origin)}/downloads/${place}?X-Goog-Signature=${signature}`;
        return [`dataset/${id}/${name}`, url];
      });
      return jsonReply({ filenameToSignedUrls: Object.fromEntries(urls) });
    },

    download({ headers, query }: Exchange, place: string): Reply {
      const found = downloads.get(place);
      const isSigned = found?.signature === query.get('X-Goog-Signature');
      if (headers.authorization !== undefined || !isSigned || now() >= found.expiresAt) {
        return { status: 403, headers: { 'content-type': 'application/xml' }, body: '<Error/>' };
      }
      const type = { 'content-type': 'application/octet-stream' };
      return { status: 200, headers: type, body: found.chunks };
    },
  };
}

async function readFile({ headers, body }: Exchange, limit: number) {
  const boundary = boundaryOf(headers['content-type']);
  if (boundary === null) throw new Refusal(400, 'expected multipart/form-data');
  const chunks: Buffer[] = [];
  let filename: string | null = null;
  let bytes = 0;
  try {
    await readMultipart(body, boundary, (head) => {
      if (head.name === 'file') filename = head.filename ?? '';
      return (part) => {
        bytes += part.length;
        if (bytes > limit) throw new Refusal(413, `the file has more than ${limit} bytes`);
        chunks.push(part);
      };
    });
  } catch (error) {
    if (error instanceof MultipartError) throw new Refusal(400, error.message);
    throw error;
  }
  if (filename === null) throw new Refusal(400, 'the form has no file');
  return { filename: filename as string, chunks };
}
