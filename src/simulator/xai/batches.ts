import type { Files } from '../openai-like/files/files.ts';
import { foreignFile } from '../openai-like/files/foreign-file.ts';
import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { countLines } from '../server/lines.ts';
import { type Batch, BatchStore, createBatch } from '../world/batches/batch.ts';
import { liveBatch, requestCancel } from '../world/batches/batch-life.ts';
import type { World } from '../world/world.ts';
import { batchObject } from './batch-object.ts';
import { createWire, type XaiBatch } from './batch-wire.ts';
import { xaiDescription } from './description.ts';
import { page } from './page.ts';

const cancelling = /:cancel$/;

export function createBatches(world: World, files: Files) {
  const store = new BatchStore<XaiBatch>();
  const wire = createWire(world, files);
  const show = (batch: Batch<XaiBatch>) => batchObject(world, batch);

  function start(account: string, name: string, inputFileId: string, foreign: boolean) {
    const batch = createBatch<XaiBatch>({
      prefix: 'batch_',
      account,
      details: { name, inputFileId, rows: [], readsNotFound: 0 },
      now: world.clock.now(),
      listLag: world.settings.listLag,
      foreign,
      script: foreign ? {} : world.faults.takeScript(),
    });
    store.add(batch);
    void liveBatch(world, wire, batch);
    return batch;
  }

  function startForeign(account: string, size: number) {
    const file = files.add(foreignFile(xaiDescription, account, '/v1/chat/completions', size));
    return start(account, 'of a stranger', file.id, true);
  }

  function demand(id: string, account: string): Batch<XaiBatch> {
    const batch = store.find(id, account);
    if (batch === undefined) throw new Refusal(404, `Batch ${id} not found.`);
    return batch;
  }

  return {
    store,

    async create({ account, body }: Exchange): Promise<Reply> {
      const { name, input_file_id: fileId, ...others } = await readJson(body);
      const [unknown] = Object.keys(others);
      if (unknown !== undefined) throw new Refusal(400, `Unknown field: ${unknown}`);
      if (typeof name !== 'string') throw new Refusal(400, 'name is required.');
      if (typeof fileId !== 'string') {
        throw new Refusal(400, 'The simulator knows batches with input_file_id only.');
      }
      const file = files.find(fileId, account);
      if (file === undefined) throw new Refusal(404, `File ${fileId} not found.`);
      if (!world.settings.foreignBatches) {
        return jsonReply(show(start(account, name, fileId, false)));
      }
      // Sometimes older, sometimes newer than the client's own: its place proves nothing.
      const foreignFirst = world.random.next() < 0.5;
      const size = countLines(file.chunks);
      if (foreignFirst) startForeign(account, size);
      const batch = start(account, name, fileId, false);
      if (!foreignFirst) startForeign(account, size);
      return jsonReply(show(batch));
    },

    list({ account, query }: Exchange): Reply {
      const listed = store.listed(account, world.clock.now(), world.settings);
      const { items, next } = page(listed, query, 100);
      return jsonReply({ batches: items.map(show), pagination_token: next });
    },

    get: ({ account }: Exchange, id: string): Reply => jsonReply(show(demand(id, account))),

    /** The colon makes it a part of the last segment. */
    cancel({ account, path }: Exchange, segment: string): Reply {
      if (!cancelling.test(segment)) throw new Refusal(404, `Not found: POST ${path}`);
      const batch = demand(segment.replace(cancelling, ''), account);
      requestCancel(world, batch);
      return jsonReply(show(batch));
    },

    /** Sorted by id, whenever they were finished. */
    results({ account, query }: Exchange, id: string): Reply {
      const { details, createdAt } = demand(id, account);
      const isGone = world.clock.now() - createdAt >= world.settings.resultsKept;
      if (isGone || details.readsNotFound > 0) {
        details.readsNotFound = Math.max(0, details.readsNotFound - 1);
        throw new Refusal(404, `Results of batch ${id} not found.`);
      }
      const rows = details.rows.map(toRow).filter((row) => row !== null);
      rows.sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
      const { items, next } = page(rows, query, 1_000);
      return jsonReply({ results: items, pagination_token: next });
    },

    addForeign: (account: string, size: number): string => startForeign(account, size).id,
  };
}

/** A row that was cut in two would break its whole page; what is left of it has no id. */
function toRow(text: string): object | null {
  try {
    return JSON.parse(text) as object | null;
  } catch {
    return { batch_result: null };
  }
}

function idOf(row: object): string {
  return 'batch_request_id' in row ? String(row.batch_request_id) : '';
}
