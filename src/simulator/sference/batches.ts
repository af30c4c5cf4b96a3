import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { type Batch, type BatchLine, BatchStore, createBatch } from '../world/batches/batch.ts';
import { liveBatch, requestCancel } from '../world/batches/batch-life.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { batchObject, statusOf } from './batch-object.ts';
import { createWire, type SferenceBatch } from './batch-wire.ts';
import { checkCreate } from './check-create.ts';

const largestBody = 100_000_000;
const mostRequests = 50_000;

export function createBatches(world: World) {
  const store = new BatchStore<SferenceBatch>();
  const wire = createWire(world);
  const limits = () => world.settings.limits.sference ?? {};

  function start(account: string, requests: BatchLine[], foreign: boolean) {
    const batch = createBatch<SferenceBatch>({
      prefix: '',
      account,
      details: { count: requests.length, requests, results: null, readsNotFound: 0 },
      now: world.clock.now(),
      listLag: world.settings.listLag,
      foreign,
      script: foreign ? {} : world.faults.takeScript(),
    });
    batch.requests = requests.length;
    store.add(batch);
    void liveBatch(world, wire, batch);
    return batch;
  }

  const startForeign = (account: string, size: number) =>
    start(account, foreignRequests(size), true);

  function demand(id: string, account: string): Batch<SferenceBatch> {
    const batch = store.find(id, account);
    if (batch === undefined) throw new Refusal(404, 'Batch not found');
    return batch;
  }

  return {
    store,

    async create({ account, body }: Exchange): Promise<Reply> {
      const { bytesPerBatch = largestBody, requestsPerBatch = mostRequests } = limits();
      const create = await readJson(body, bytesPerBatch);
      const requests = checkCreate(create, requestsPerBatch, world.settings.models);
      const accompanied = world.settings.foreignBatches;
      // Sometimes older, sometimes newer than the client's own: its place proves nothing.
      const foreignFirst = accompanied && world.random.next() < 0.5;
      if (foreignFirst) startForeign(account, requests.length);
      const batch = start(account, requests, false);
      if (accompanied && !foreignFirst) startForeign(account, batch.details.count);
      return jsonReply(batchObject(batch), 201);
    },

    /** All of them: there are no pages. */
    list({ account, query }: Exchange): Reply {
      const [unknown] = query.keys();
      if (unknown !== undefined) throw new Refusal(400, `Unknown parameter: ${unknown}`);
      const listed = store.listed(account, world.clock.now(), world.settings);
      return jsonReply({ items: listed.map(batchObject) });
    },

    get: ({ account }: Exchange, id: string): Reply => jsonReply(batchObject(demand(id, account))),

    cancel({ account }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      if (batch.phase === 'ended') {
        throw new Refusal(409, `Batch is already ${statusOf(batch)}`);
      }
      requestCancel(world, batch);
      return jsonReply(batchObject(batch));
    },

    results({ account }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      const { details, reachedAt } = batch;
      return jsonReply({
        batch_id: id,
        status: statusOf(batch),
        output_url: null,
        completed_at: reachedAt.ended ? new Date(reachedAt.ended).toISOString() : null,
        results: isReadable(batch) ? linesOf(details.results) : null,
      });
    },

    resultLines({ account }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      const { details } = batch;
      if (!isReadable(batch)) {
        details.readsNotFound = Math.max(0, details.readsNotFound - 1);
        throw new Refusal(404, 'Results not found');
      }
      const headers = { 'content-type': 'application/x-ndjson' };
      return { status: 200, headers, body: details.results ?? [] };
    },

    addForeign: (account: string, size: number): string => startForeign(account, size).id,
  };

  function isReadable({ details, createdAt }: Batch<SferenceBatch>): boolean {
    const isKept = world.clock.now() - createdAt < world.settings.resultsKept;
    return isKept && details.results !== null && details.readsNotFound === 0;
  }
}

function linesOf(chunks: readonly Buffer[] | null): unknown[] {
  const text = Buffer.concat(chunks ?? []).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function foreignRequests(size: number): BatchLine[] {
  const prefix = newId('stranger-');
  return Array.from({ length: size }, (_, index) => ({
    customId: `${prefix}-${index}`,
    endpoint: '/v1/chat/completions',
    body: {
      model: 'stranger-model',
      messages: [{ role: 'user', content: `a stranger's question ${index}` }],
    },
  }));
}
