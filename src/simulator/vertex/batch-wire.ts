import { toChunks } from '../server/lines.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { readsNotFound, shuffledResults } from '../world/batches/results.ts';
import type { World } from '../world/world.ts';
import type { VertexJob } from './details.ts';
import { dialectOf } from './dialect.ts';
import type { Objects } from './objects.ts';
import { resultRow } from './result-row.ts';

export function createWire(world: World, objects: Objects): BatchWire<VertexJob> {
  return {
    failsAsWhole: true,
    dialect: ({ details }) => dialectOf(details.publisher, 'batch'),
    resultLine: (batch, customId, outcome) =>
      resultRow(batch, customId, outcome, world.clock.now()),

    async prepare({ details }) {
      const { requests, problem } = details;
      details.requests = [];
      return problem === null ? requests : { errors: [problem] };
    },

    /** Rows go to a new folder below the prefix that the create named. */
    async publish(batch) {
      const { account, details, createdAt } = batch;
      const folder = `${details.outputUri}/prediction-model-${new Date(createdAt).toISOString()}`;
      details.directory = folder;
      const [, bucket = '', path = ''] = /^gs:\/\/([^/]+)\/(.+)$/.exec(folder) ?? [];
      objects.put({
        account,
        bucket,
        name: `${path}/predictions.jsonl`,
        contentType: 'application/octet-stream',
        chunks: await toChunks(shuffledResults(world, batch), world.clock),
        createdAt: world.clock.now(),
        isOutput: true,
        readsNotFound: readsNotFound(world, batch),
      });
    },
  };
}
