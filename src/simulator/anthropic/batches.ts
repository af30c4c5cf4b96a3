import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { type Batch, type BatchLine, BatchStore } from '../world/batches/batch.ts';
import { requestCancel } from '../world/batches/batch-life.ts';
import { startAccompanied, startBatch } from '../world/batches/start-batch.ts';
import { strangersRequests } from '../world/batches/strangers-requests.ts';
import { newId } from '../world/random.ts';
import type { World } from '../world/world.ts';
import { archivedBy, batchObject } from './batch-object.ts';
import { type AnthropicBatch, createWire } from './batch-wire.ts';
import { checkCreate } from './check-create.ts';
import { demandVersion } from './errors.ts';
import { page } from './page.ts';

const largestBody = 256 * 1024 * 1024;
const mostRequests = 100_000;

export function createBatches(world: World) {
  const store = new BatchStore<AnthropicBatch>();
  const wire = createWire(world);
  const limits = () => world.settings.limits.anthropic ?? {};

  function start(account: string, details: AnthropicBatch, now: number, foreign: boolean) {
    const total = details.requests.length;
    const id = newId('msgbatch_');
    return startBatch(world, wire, store, { id, account, details, now, foreign, total });
  }

  function startForeign(account: string, version: string, size: number, now: number) {
    const batchWide = { version, userProfile: undefined };
    const requests = foreignRequests(size);
    const details = { batchWide, requests, results: null, readsNotFound: 0 };
    return start(account, details, now, true);
  }

  function demand(id: string, account: string): Batch<AnthropicBatch> {
    const batch = store.find(id, account);
    if (batch === undefined) throw new Refusal(404, `Message batch with id ${id} not found.`);
    return batch;
  }

  function demandRoom(account: string, more: number): void {
    const { queuedRequests = Number.POSITIVE_INFINITY, retryAfterSeconds = 1 } = limits();
    const queued = store
      .all()
      .filter((batch) => batch.account === account && batch.phase !== 'ended' && !batch.foreign)
      .reduce((sum, batch) => sum + batch.total, 0);
    if (queued + more <= queuedRequests) return;
    throw new Refusal(429, 'Too many batch requests are waiting in the processing queue.', {
      headers: { 'retry-after': String(retryAfterSeconds) },
    });
  }

  return {
    store,

    async create(exchange: Exchange): Promise<Reply> {
      const { account, origin, body } = exchange;
      const { bytesPerBatch = largestBody, requestsPerBatch = mostRequests } = limits();
      const requests = checkCreate(await readJson(body, bytesPerBatch), requestsPerBatch);
      demandRoom(account, requests.length);
      const version = demandVersion(exchange);
      const { 'anthropic-user-profile-id': userProfile } = exchange.headers;
      const batchWide = { version, userProfile: userProfile?.toString() };
      const details = { batchWide, requests, results: null, readsNotFound: 0 };
      const size = requests.length;
      const batch = startAccompanied(
        world,
        (now) => start(account, details, now, false),
        (now) => startForeign(account, version, size, now),
      );
      return jsonReply(batchObject(batch, world, origin));
    },

    list({ account, query, origin }: Exchange): Reply {
      const listed = store.listed(account, world.clock.now(), world.settings);
      return jsonReply(
        page(
          listed.map((batch) => batchObject(batch, world, origin)),
          query,
        ),
      );
    },

    get: ({ account, origin }: Exchange, id: string): Reply =>
      jsonReply(batchObject(demand(id, account), world, origin)),

    cancel({ account, origin }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      if (batch.phase === 'ended') {
        throw new Refusal(400, `Message batch ${id} has already ended.`);
      }
      requestCancel(world, batch);
      return jsonReply(batchObject(batch, world, origin));
    },

    remove({ account }: Exchange, id: string): Reply {
      if (demand(id, account).phase !== 'ended') {
        throw new Refusal(400, `Message batch ${id} cannot be deleted before it has ended.`);
      }
      store.remove(id);
      return jsonReply({ id, type: 'message_batch_deleted' });
    },

    results({ account }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      const { details } = batch;
      const isArchived = world.clock.now() >= archivedBy(batch, world.settings);
      if (details.results === null || isArchived || details.readsNotFound > 0) {
        details.readsNotFound = Math.max(0, details.readsNotFound - 1);
        throw new Refusal(404, `Message batch ${id} has no available results.`);
      }
      const headers = { 'content-type': 'application/x-jsonl' };
      return { status: 200, headers, body: details.results };
    },

    addForeign: (account: string, size: number): string =>
      startForeign(account, '2023-06-01', size, world.clock.now()).id,
  };
}

function foreignRequests(size: number): BatchLine[] {
  return strangersRequests(size, (customId, content) => {
    const messages = [{ role: 'user', content }];
    const body = { model: 'stranger-model', max_tokens: 16, messages };
    return { customId, endpoint: '/v1/messages', body };
  });
}
