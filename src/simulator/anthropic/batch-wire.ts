import { toChunks } from '../server/lines.ts';
import type { BatchLine } from '../world/batches/batch.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { readsNotFound, shuffledResults } from '../world/batches/results.ts';
import type { World } from '../world/world.ts';
import { type BatchWide, batchDialect } from './dialect.ts';
import { resultLine } from './result-line.ts';

/** What only Anthropic's batches have. */
export interface AnthropicBatch {
  /** Fixed by the create call and applied to every item. */
  batchWide: BatchWide;
  /** Emptied once the batch has taken them over. */
  requests: BatchLine[];
  results: Buffer[] | null;
  /** How many reads of the results still answer 404. */
  readsNotFound: number;
}

export function createWire(world: World): BatchWire<AnthropicBatch> {
  return {
    failsAsWhole: false,
    dialect: ({ details }) => batchDialect(details.batchWide),
    resultLine: (_batch, customId, outcome) => resultLine(customId, outcome),
    async prepare({ details }) {
      const { requests } = details;
      details.requests = [];
      return requests;
    },
    async publish(batch) {
      const { details } = batch;
      details.readsNotFound = readsNotFound(world, batch);
      details.results = await toChunks(shuffledResults(world, batch), world.clock);
    },
  };
}
