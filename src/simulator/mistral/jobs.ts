import { statusOf } from '../openai-like/batches/batch-object.ts';
import type { Files } from '../openai-like/files/files.ts';
import { foreignFile } from '../openai-like/files/foreign-file.ts';
import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { isObject } from '../server/json.ts';
import { countLines, readLines } from '../server/lines.ts';
import { type Batch, BatchStore, createBatch } from '../world/batches/batch.ts';
import { liveBatch, requestCancel } from '../world/batches/batch-life.ts';
import type { World } from '../world/world.ts';
import { checkCreate } from './check-create.ts';
import { mistralDescription } from './description.ts';
import type { MistralJob } from './details.ts';
import { filterJobs } from './filter-jobs.ts';
import { jobObject } from './job-object.ts';
import { createWire } from './job-wire.ts';
import { page } from './page.ts';

export function createJobs(world: World, files: Files) {
  const store = new BatchStore<MistralJob>();
  const wire = createWire(world, files);
  const show = (batch: Batch<MistralJob>) => jobObject(world, batch);

  function start(account: string, details: MistralJob, now: number, foreign: boolean) {
    const batch = createBatch({
      prefix: mistralDescription.batchIdPrefix,
      account,
      details,
      now,
      listLag: world.settings.listLag,
      foreign,
      script: foreign ? {} : world.faults.takeScript(),
    });
    batch.requests = countLines(details.input);
    store.add(batch);
    void liveBatch(world, wire, batch);
    return batch;
  }

  function startForeign(account: string, endpoint: string, size: number, now: number) {
    return start(account, foreignJob(account, endpoint, size), now, true);
  }

  function demand(id: string, account: string): Batch<MistralJob> {
    const batch = store.find(id, account);
    if (batch === undefined) throw new Refusal(404, `Job ${id} not found`);
    return batch;
  }

  return {
    store,

    async create({ account, body }: Exchange): Promise<Reply> {
      const { bytesPerBatch } = world.settings.limits.mistral ?? {};
      const asked = await readJson(body, bytesPerBatch);
      const details = checkCreate(asked, (id) => files.find(id, account));
      const now = world.clock.now();
      const accompanied = world.settings.foreignBatches;
      // Sometimes older, sometimes newer than the client's own: its place proves nothing.
      const foreignFirst = accompanied && world.random.next() < 0.5;
      const size = countLines(details.input);
      if (foreignFirst) startForeign(account, details.endpoint, size, now);
      const batch = start(account, details, now, false);
      if (accompanied && !foreignFirst) startForeign(account, details.endpoint, size, now);
      return jsonReply(show(batch));
    },

    list({ account, query }: Exchange): Reply {
      const listed = store.listed(account, world.clock.now(), world.settings);
      return jsonReply(page(filterJobs(listed.map(show), query), query));
    },

    /** `inline=true` shows the results in the job itself. */
    get({ account, query }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      const job = show(batch);
      if (query.get('inline') !== 'true' || batch.phase !== 'ended') return jsonReply(job);
      const { outputFile } = batch.details;
      const chunks = outputFile === null ? [] : files.demand(outputFile, account).chunks;
      return jsonReply({ ...job, outputs: [...readLines(chunks)].map(({ text }) => parsed(text)) });
    },

    cancel({ account }: Exchange, id: string): Reply {
      const batch = demand(id, account);
      if (batch.phase === 'ended') {
        const status = statusOf(mistralDescription, batch);
        throw new Refusal(409, `Job ${id} cannot be cancelled: it is ${status}`);
      }
      requestCancel(world, batch);
      return jsonReply(show(batch));
    },

    remove({ account }: Exchange, id: string): Reply {
      if (demand(id, account).phase !== 'ended') {
        throw new Refusal(409, `Job ${id} cannot be deleted before it has ended`);
      }
      store.remove(id);
      return jsonReply({ id, object: 'batch', deleted: true });
    },

    addForeign: (account: string, size: number): string =>
      startForeign(account, '/v1/chat/completions', size, world.clock.now()).id,
  };
}

/** A stranger's job of as many requests, which travelled in its create call. */
function foreignJob(account: string, endpoint: string, size: number): MistralJob {
  const { chunks } = foreignFile(mistralDescription, account, endpoint, size);
  const input = [...readLines(chunks)].map(({ text }) => {
    const { custom_id, body } = parsed(text);
    return Buffer.from(`${JSON.stringify({ custom_id, body })}\n`);
  });
  return {
    endpoint,
    model: 'stranger-model',
    metadata: { batchling: 'bl_of_somebody_else' },
    inputFiles: [],
    input,
    outputFile: null,
    errorFile: null,
    failures: new Map(),
  };
}

function parsed(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}
