import { type BatchKind, createBatches } from '../openai-like/batches/batches.ts';
import type { Files } from '../openai-like/files/files.ts';
import { foreignFile } from '../openai-like/files/foreign-file.ts';
import { type Exchange, jsonReply, Refusal, type Reply, readJson } from '../server/exchange.ts';
import { parseJson } from '../server/json.ts';
import { countLines } from '../server/lines.ts';
import type { World } from '../world/world.ts';
import { batchObject } from './batch-object.ts';
import { createWire, type XaiBatch } from './batch-wire.ts';
import { xaiDescription } from './description.ts';
import { page } from './page.ts';

const cancelling = /:cancel$/;

export function createXaiBatches(world: World, files: Files) {
  const batches = createBatches(world, xaiDescription, xaiKind(world, files));
  return {
    ...batches,

    list(exchange: Exchange): Reply {
      const { items, next } = page(batches.listed(exchange), exchange.query, 100);
      return jsonReply({ batches: items, pagination_token: next });
    },

    /** `:cancel` is part of the last segment of the path. */
    cancel(exchange: Exchange, segment: string): Reply {
      if (!cancelling.test(segment)) throw new Refusal(404, `Not found: POST ${exchange.path}`);
      return batches.cancel(exchange, segment.replace(cancelling, ''));
    },

    /** Rows are sorted by id, whenever they were finished. */
    results({ account, query }: Exchange, id: string): Reply {
      const { details, createdAt } = batches.demand(id, account);
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
  };
}

function xaiKind(world: World, files: Files): BatchKind<XaiBatch> {
  return {
    wire: () => createWire(world, files),
    async read({ account, body }) {
      const { name, input_file_id: fileId, ...others } = await readJson(body);
      const [unknown] = Object.keys(others);
      if (unknown !== undefined) throw new Refusal(400, `Unknown field: ${unknown}`);
      if (typeof name !== 'string') throw new Refusal(400, 'name is required.');
      if (typeof fileId !== 'string') {
        throw new Refusal(400, 'The simulator knows batches with input_file_id only.');
      }
      const file = files.find(fileId, account);
      if (file === undefined) throw new Refusal(404, `File ${fileId} not found.`);
      return newBatch(name, fileId);
    },
    sizeOf: ({ inputFileId }, account) => countLines(files.demand(inputFileId, account).chunks),
    foreign(account, size) {
      const file = files.add(foreignFile(xaiDescription, account, '/v1/chat/completions', size));
      return newBatch('of a stranger', file.id);
    },
    show: (batch) => batchObject(world, batch),
    unknown: (id) => `Batch ${id} not found.`,
  };
}

function newBatch(name: string, inputFileId: string): XaiBatch {
  return { name, inputFileId, rows: [], readsNotFound: 0 };
}

/** A row that was cut in two would break its whole page; what is left of it has no id. */
function toRow(text: string): object | null {
  const row = parseJson(text) as object | null | undefined;
  return row === undefined ? { batch_result: null } : row;
}

function idOf(row: object): string {
  return 'batch_request_id' in row ? String(row.batch_request_id) : '';
}
