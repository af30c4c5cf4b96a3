import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../../server/exchange.ts';
import { countLines } from '../../server/lines.ts';
import { type Batch, BatchStore, createBatch } from '../../world/batches/batch.ts';
import { liveBatch, requestCancel } from '../../world/batches/batch-life.ts';
import type { World } from '../../world/world.ts';
import type { OpenAILike } from '../description.ts';
import type { Files } from '../files/files.ts';
import { foreignFile } from '../files/foreign-file.ts';
import { batchObject, statusOf } from './batch-object.ts';
import { createWire } from './batch-wire.ts';
import { checkCreate } from './check-create.ts';
import { createDetails, type OpenAIBatch } from './details.ts';

export type Batches = ReturnType<typeof createBatches>;

export function createBatches(world: World, like: OpenAILike, files: Files) {
  const store = new BatchStore<OpenAIBatch>();
  const wire = createWire(world, like, files, store);
  const show = (batch: Batch<OpenAIBatch>) => like.batchObject(batchObject(world, like, batch));

  function start(account: string, details: OpenAIBatch, now: number, foreign: boolean) {
    const batch = createBatch({
      prefix: like.batchIdPrefix,
      account,
      details,
      now,
      listLag: world.settings.listLag,
      foreign,
      script: foreign ? {} : world.faults.takeScript(),
    });
    store.add(batch);
    void liveBatch(world, wire, batch);
    return batch;
  }

  function startForeign(account: string, endpoint: string, size: number, now: number) {
    const file = files.add(foreignFile(like, account, endpoint, size));
    return start(account, createDetails(endpoint, file), now, true);
  }

  function demand(id: string, account: string): Batch<OpenAIBatch> {
    const batch = store.find(id, account);
    if (batch === undefined) throw new Refusal(404, `No batch found with id '${id}'.`);
    return batch;
  }

  const created = (batch: Batch<OpenAIBatch>) =>
    jsonReply(like.created(show(batch)), like.createStatus);

  return {
    store,
    show,
    demand,

    async create({ account, body }: Exchange): Promise<Reply> {
      const details = checkCreate(like, await readJson(body), (id) => files.findInput(id, account));
      const now = world.clock.now();
      if (!world.settings.foreignBatches) {
        return created(start(account, details, now, false));
      }
      // Sometimes older, sometimes newer than the client's own: its place proves nothing.
      const foreignFirst = world.random.next() < 0.5;
      const size = countLines(details.input);
      if (foreignFirst) startForeign(account, details.endpoint, size, now);
      const batch = start(account, details, now, false);
      if (!foreignFirst) startForeign(account, details.endpoint, size, now);
      return created(batch);
    },

    list({ account, query }: Exchange): Reply {
      const listed = store.listed(account, world.clock.now(), world.settings);
      return jsonReply(like.page(listed.map(show), query, { standard: 20, most: 100 }));
    },

    get: ({ account }: Exchange, id: string): Reply => jsonReply(show(demand(id, account))),

    cancel({ account }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      if (batch.phase === 'ended') {
        const status = like.lateCancelStatus ?? 409;
        throw new Refusal(status, `Cannot cancel a batch with status '${statusOf(like, batch)}'.`);
      }
      requestCancel(world, batch);
      return jsonReply(show(batch));
    },

    addForeign: (account: string, size: number): string =>
      startForeign(account, like.endpoints[0] as string, size, world.clock.now()).id,
  };
}
