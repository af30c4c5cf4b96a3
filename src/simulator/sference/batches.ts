import { type BatchKind, createBatches } from '../openai-like/batches/batches.ts';
import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import type { Batch, BatchLine } from '../world/batches/batch.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import type { World } from '../world/world.ts';
import { batchObject, statusOf } from './batch-object.ts';
import { createWire, type SferenceBatch } from './batch-wire.ts';
import { checkCreate } from './check-create.ts';
import { sferenceDescription } from './description.ts';

const largestBody = 100_000_000;
const mostRequests = 50_000;

export function createSferenceBatches(world: World) {
  const batches = createBatches(world, sferenceDescription, sferenceKind(world));
  return {
    ...batches,

    /** The list has no pages. */
    list(exchange: Exchange): Reply {
      const [unknown] = exchange.query.keys();
      if (unknown !== undefined) throw new Refusal(400, `Unknown parameter: ${unknown}`);
      return jsonReply({ items: batches.listed(exchange) });
    },

    results({ account }: Exchange, id: string): Reply {
      const batch = batches.demand(id, account);
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
      const batch = batches.demand(id, account);
      const { details } = batch;
      if (!isReadable(batch)) {
        details.readsNotFound = Math.max(0, details.readsNotFound - 1);
        throw new Refusal(404, 'Results not found');
      }
      const headers = { 'content-type': 'application/x-ndjson' };
      return { status: 200, headers, body: details.results ?? [] };
    },
  };

  function isReadable({ details, createdAt }: Batch<SferenceBatch>): boolean {
    const isKept = world.clock.now() - createdAt < world.settings.resultsKept;
    return isKept && details.results !== null && details.readsNotFound === 0;
  }
}

function sferenceKind(world: World): BatchKind<SferenceBatch> {
  return {
    wire: () => createWire(world),
    async read({ body }) {
      const { limits, models } = world.settings;
      const { bytesPerBatch = largestBody, requestsPerBatch = mostRequests } =
        limits.sference ?? {};
      return newBatch(checkCreate(await readJson(body, bytesPerBatch), requestsPerBatch, models));
    },
    sizeOf: ({ count }) => count,
    countsAtOnce: true,
    foreign: (_account, size) => newBatch(foreignRequests(size)),
    show: batchObject,
    unknown: () => 'Batch not found',
    tooLate: (batch) => new Refusal(409, `Batch is already ${statusOf(batch)}`),
  };
}

function newBatch(requests: BatchLine[]): SferenceBatch {
  return { count: requests.length, requests, results: null, readsNotFound: 0 };
}

function linesOf(chunks: readonly Buffer[] | null): unknown[] {
  const text = Buffer.concat(chunks ?? []).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function foreignRequests(size: number): BatchLine[] {
  return strangersRequests(size, (customId, content) => {
    const body = { model: 'stranger-model', messages: [{ role: 'user', content }] };
    return { customId, endpoint: '/v1/chat/completions', body };
  });
}
