import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { countLines } from '../server/lines.ts';
import { type Batch, BatchStore } from '../world/batches/batch.ts';
import { requestCancel } from '../world/batches/batch-life.ts';
import { startAccompanied, startBatch } from '../world/batches/start-batch.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import type { Datasets } from './datasets.ts';
import { type FireworksJob, jobObject } from './job-object.ts';
import { createWire } from './job-wire.ts';
import { accountName } from './names.ts';

const createFields = [
  'model',
  'inputDatasetId',
  'outputDatasetId',
  'displayName',
  'inferenceParameters',
  'precision',
  'continuedFromJobName',
];
/** How long a job is shown that was deleted. */
const cleaningUp = 60_000;
const mostOnPage = 200;

export function createJobs(world: World, datasets: Datasets) {
  const store = new BatchStore<FireworksJob>();
  const wire = createWire(world, datasets);
  const show = (batch: Batch<FireworksJob>) => jobObject(world, batch);

  function start(id: string, account: string, details: FireworksJob, now: number, foreign = false) {
    const { exampleCount: requests } = details;
    return startBatch(world, wire, store, { id, account, details, now, foreign, requests });
  }

  function startForeign(account: string, size: number, now: number) {
    const asLine = (custom_id: string, content: string) =>
      JSON.stringify({ custom_id, body: { messages: [{ role: 'user', content }] } });
    const name = newId('stranger-');
    const input = [Buffer.from(strangersRequests(size, asLine, name).join('\n'))];
    return start(name, account, newJob('stranger-model', name, input), now, true);
  }

  function isGone({ details, phase, reachedAt }: Batch<FireworksJob>): boolean {
    if (!details.isDeleted || phase !== 'ended') return false;
    return world.clock.now() - (reachedAt.ended ?? 0) >= cleaningUp;
  }

  function demand({ account }: Exchange, id: string): Batch<FireworksJob> {
    const batch = store.find(id, account);
    if (batch !== undefined && !isGone(batch)) return batch;
    throw new Refusal(404, `batch inference job ${id} not found`);
  }

  async function read({ account, body }: Exchange): Promise<FireworksJob> {
    const json = await readJson(body);
    const unknown = Object.keys(json).find((name) => !createFields.includes(name));
    if (unknown !== undefined) throw new Refusal(400, `unknown field ${unknown}`);
    const { model, inputDatasetId: input, displayName, continuedFromJobName: continued } = json;
    if (typeof model !== 'string') throw new Refusal(400, 'model is required');
    if (!/^accounts\/[^/]+\/models\/[^/]+$/.test(model)) {
      throw new Refusal(400, `invalid model name ${model}`);
    }
    const [, id] = new RegExp(`^${accountName}/datasets/([^/]+)$`).exec(String(input)) ?? [];
    if (id === undefined) throw new Refusal(400, `invalid dataset name ${input}`);
    const job = newJob(model, id, datasets.linesOf(id, account));
    return {
      ...job,
      displayName: String(displayName ?? ''),
      continuedFrom: typeof continued === 'string' ? continued : null,
    };
  }

  return {
    store,

    async create(exchange: Exchange): Promise<Reply> {
      const { account, query } = exchange;
      const job = await read(exchange);
      const id = query.get('batchInferenceJobId') ?? newId('job-');
      if (!/^[a-z][a-z\d-]{0,62}$/.test(id)) throw new Refusal(400, `invalid job id ${id}`);
      if (store.all().some((other) => other.id === id)) {
        throw new Refusal(409, `batch inference job ${id} already exists`);
      }
      const batch = startAccompanied(
        world,
        (now) => start(id, account, job, now),
        (now) => startForeign(account, job.exampleCount, now),
      );
      return jsonReply(show(batch));
    },

    /** The oldest come first. */
    list({ account, query }: Exchange): Reply {
      const size = Math.min(Number(query.get('pageSize') ?? 50), mostOnPage);
      const from = Number(query.get('pageToken') ?? 0);
      const listed = store
        .listed(account, world.clock.now(), { ...world.settings, oldestFirst: true })
        .filter((batch) => !isGone(batch));
      const end = from + size;
      return jsonReply({
        batchInferenceJobs: listed.slice(from, end).map(show),
        nextPageToken: end < listed.length ? String(end) : '',
        totalSize: listed.length,
      });
    },

    get: (exchange: Exchange, id: string): Reply => jsonReply(show(demand(exchange, id))),

    /** There is no other way to cancel. What has run is lost. */
    remove(exchange: Exchange, id: string): Reply {
      const batch = demand(exchange, id);
      batch.details.isDeleted = true;
      requestCancel(world, batch);
      return jsonReply({});
    },

    addForeign: (account: string, size: number): string =>
      startForeign(account, size, world.clock.now()).id,
  };
}

function newJob(model: string, inputDatasetId: string, input: Buffer[]): FireworksJob {
  return {
    model,
    displayName: '',
    inputDatasetId,
    input,
    exampleCount: countLines(input),
    outputDatasetId: newId('bij-output-'),
    continuedFrom: null,
    isDeleted: false,
  };
}
