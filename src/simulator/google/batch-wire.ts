import { toChunks } from '../server/lines.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { readsNotFound, shuffledResults } from '../world/batches/results.ts';
import type { World } from '../world/world.ts';
import type { GoogleBatch } from './details.ts';
import { geminiDialect } from './dialect.ts';
import type { Files } from './files.ts';
import { itemOf } from './operation.ts';
import { resultLine } from './result-line.ts';

export function createWire(world: World, files: Files): BatchWire<GoogleBatch> {
  return {
    failsAsWhole: true,
    dialect: () => geminiDialect('google'),
    resultLine: ({ details }, key, outcome) => resultLine(details.fileId !== null, key, outcome),

    async prepare({ details }) {
      const { requests, problem } = details;
      details.requests = [];
      return problem === null ? requests : { errors: [problem] };
    },

    async publish(batch) {
      const { account, details } = batch;
      const lines = shuffledResults(world, batch);
      if (details.fileId === null) {
        details.output = { inlined: lines.map(itemOf) };
        return;
      }
      const { id } = files.add({
        account,
        displayName: undefined,
        mimeType: 'application/jsonl',
        chunks: await toChunks(lines, world.clock),
        isOutput: true,
        readsNotFound: readsNotFound(world, batch),
      });
      details.output = { fileId: id };
    },
  };
}
