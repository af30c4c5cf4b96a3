import { page } from '../google/page.ts';
import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { type Batch, BatchStore } from '../world/batches/batch.ts';
import { requestCancel } from '../world/batches/batch-life.ts';
import { startAccompanied, startBatch } from '../world/batches/start-batch.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { createWire } from './batch-wire.ts';
import { checkCreate } from './check-create.ts';
import { takeLines } from './check-lines.ts';
import type { VertexJob } from './details.ts';
import { unknownModel } from './dialect.ts';
import { jobObject } from './job-object.ts';
import { digitsOf, type Place, placeIn, projectNumber } from './names.ts';
import type { Objects } from './objects.ts';

const largestInput = 1_000_000_000;
const mostOfClaude = 4;

export function createJobs(world: World, objects: Objects) {
  const store = new BatchStore<VertexJob>();
  const wire = createWire(world, objects);
  const show = (batch: Batch<VertexJob>) => jobObject(world, batch);

  function start(account: string, details: VertexJob, now: number, foreign: boolean) {
    const id = digitsOf(newId(''), 19);
    const total = details.requests.length;
    return startBatch(world, wire, store, { id, account, details, now, foreign, total });
  }

  function startForeign(account: string, place: Place, size: number, now: number) {
    const model = 'publishers/google/models/stranger-model';
    const name = newId('stranger-');
    const uri = `gs://strangers/${name}`;
    const job = newJob(place, { publisher: 'google', model, displayName: name, inputUri: uri });
    const asLine = (key: string, text: string) =>
      JSON.stringify({ key, request: { contents: [{ role: 'user', parts: [{ text }] }] } });
    takeLines(job, [Buffer.from(strangersRequests(size, asLine, name).join('\n'))]);
    return start(account, job, now, true);
  }

  function demand({ account, path }: Exchange, id: string): Batch<VertexJob> {
    const place = placeIn(path);
    const batch = store.find(id, account);
    if (batch !== undefined && isAt(batch.details, place)) return batch;
    throw new Refusal(404, `The BatchPredictionJob ${id} does not exist.`);
  }

  async function read(exchange: Exchange): Promise<VertexJob> {
    const place = placeIn(exchange.path);
    const checked = checkCreate(await readJson(exchange.body), place);
    const model = checked.model.split('/').pop() ?? '';
    if (world.settings.models?.includes(model) === false) {
      throw new Refusal(404, unknownModel(checked.model));
    }
    const job = newJob(place, checked);
    const [, bucket = '', name = ''] = /^gs:\/\/([^/]+)\/(.+)$/.exec(job.inputUri) ?? [];
    const input = objects.find(bucket, name, exchange.account);
    const bytes = input?.chunks.reduce((sum, chunk) => sum + chunk.length, 0) ?? 0;
    const { bytesPerBatch = largestInput } = world.settings.limits.vertex ?? {};
    // What is wrong with the input shows only after the create.
    if (input === undefined) {
      job.problem = { code: 'invalid', message: `Cannot read ${job.inputUri}: no such object.` };
    } else if (bytes > bytesPerBatch) {
      job.problem = { code: 'invalid', message: 'The input is larger than 1 GB.' };
    } else {
      takeLines(job, input.chunks);
    }
    return job;
  }

  function demandRoom(account: string, { publisher }: VertexJob): void {
    const open = store
      .all()
      .filter((batch) => batch.account === account && batch.phase !== 'ended' && !batch.foreign)
      .filter(({ details }) => details.publisher === 'anthropic');
    if (publisher === 'anthropic' && open.length >= mostOfClaude) {
      const quota = 'concurrent_batch_prediction_jobs';
      throw new Refusal(429, `Quota exceeded for ${quota}: ${mostOfClaude} for partner models.`);
    }
  }

  return {
    store,

    async create(exchange: Exchange): Promise<Reply> {
      const { account } = exchange;
      const job = await read(exchange);
      demandRoom(account, job);
      const size = Math.max(1, job.requests.length);
      const batch = startAccompanied(
        world,
        (now) => start(account, job, now, false),
        (now) => startForeign(account, job, size, now),
      );
      return jsonReply(show(batch));
    },

    list({ account, path, query }: Exchange): Reply {
      const place = placeIn(path);
      const wanted = nameIn(query.get('filter'));
      const listed = store
        .listed(account, world.clock.now(), world.settings)
        .filter(({ details, foreign }) => foreign || isAt(details, place))
        .filter(({ details }) => wanted === undefined || details.displayName === wanted);
      const rest = new URLSearchParams(query);
      rest.delete('filter');
      return jsonReply(page('batchPredictionJobs', listed.map(show), rest));
    },

    get: (exchange: Exchange): Reply => jsonReply(show(demand(exchange, idIn(exchange)))),

    async cancel(exchange: Exchange): Promise<Reply> {
      const batch = demand(exchange, idIn(exchange));
      await readJson(exchange.body);
      requestCancel(world, batch);
      return jsonReply({});
    },

    /** Only what has ended can be deleted; the answer is an operation that is done. */
    remove(exchange: Exchange): Reply {
      const { id, phase } = demand(exchange, idIn(exchange));
      if (phase !== 'ended') throw new Refusal(400, `The BatchPredictionJob ${id} has not ended.`);
      store.remove(id);
      const { project, location } = placeIn(exchange.path);
      const number = projectNumber(project);
      const name = `projects/${number}/locations/${location}/operations/${digitsOf(id, 19)}`;
      return jsonReply({ name, done: true, response: {} });
    },

    addForeign(account: string, size: number): string {
      const place = { project: 'strangers', location: 'us-central1' };
      return startForeign(account, place, size, world.clock.now()).id;
    },
  };
}

function newJob(
  { project, location }: Place,
  given: Pick<VertexJob, 'publisher' | 'model' | 'displayName' | 'inputUri'> & Partial<VertexJob>,
): VertexJob {
  const outputUri = `${given.inputUri}-output`;
  const nothing = { labels: undefined, problem: null, directory: null };
  return { project, location, outputUri, ...nothing, ...given, requests: [], echoes: new Map() };
}

/** A project may be called by its name or by its number. */
function isAt(job: Place, { project, location }: Place): boolean {
  return projectNumber(job.project) === projectNumber(project) && job.location === location;
}

function idIn({ path }: Exchange): string {
  return decodeURIComponent(path.split('/').pop() ?? '').replace(/:cancel$/, '');
}

function nameIn(filter: string | null): string | undefined {
  if (filter === null || filter === '') return undefined;
  const [, name] = /^\s*display_name\s*=\s*"([^"]*)"\s*$/.exec(filter) ?? [];
  if (name === undefined) throw new Refusal(400, `Invalid filter: ${filter}`);
  return name;
}
