import { Refusal, readJson } from '../../server/exchange.ts';
import { countLines } from '../../server/lines.ts';
import type { World } from '../../world/world.ts';
import type { OpenAILike } from '../description.ts';
import type { Files } from '../files/files.ts';
import { foreignFile } from '../files/foreign-file.ts';
import { batchObject, statusOf } from './batch-object.ts';
import { createWire } from './batch-wire.ts';
import type { BatchKind } from './batches.ts';
import { checkCreate } from './check-create.ts';
import { createDetails, type OpenAIBatch } from './details.ts';

/** Batches as OpenAI has them: made of an uploaded file, answered in files. */
export function openaiKind(world: World, like: OpenAILike, files: Files): BatchKind<OpenAIBatch> {
  return {
    wire: (store) => createWire(world, like, files, store),
    read: async ({ account, body }) =>
      checkCreate(like, await readJson(body), (id) => files.findInput(id, account)),
    sizeOf: ({ input }) => countLines(input),
    foreign(account, size, own) {
      const endpoint = own?.endpoint ?? (like.endpoints[0] as string);
      return createDetails(endpoint, files.add(foreignFile(like, account, endpoint, size)));
    },
    show: (batch) => like.batchObject(batchObject(world, like, batch)),
    unknown: (id) => `No batch found with id '${id}'.`,
    tooLate(batch) {
      const status = like.lateCancelStatus ?? 409;
      return new Refusal(status, `Cannot cancel a batch with status '${statusOf(like, batch)}'.`);
    },
  };
}
