import { STATUS_CODES } from 'node:http';
import { batchDialect } from '../openai-like/dialect.ts';
import { toChunks } from '../server/lines.ts';
import type { BatchLine, Outcome } from '../world/batches/batch.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { readsNotFound, shuffledResults } from '../world/batches/results.ts';
import type { World } from '../world/world.ts';
import { sferenceDescription } from './description.ts';

/** What only sference's batches have. */
export interface SferenceBatch {
  count: number;
  /** Emptied once the batch has taken them over. */
  requests: BatchLine[];
  results: Buffer[] | null;
  /** How many reads of the results still answer 404. */
  readsNotFound: number;
}

export function createWire(world: World): BatchWire<SferenceBatch> {
  return {
    failsAsWhole: false,
    dialect: () => batchDialect(sferenceDescription),
    resultLine: (_batch, id, outcome) => JSON.stringify({ custom_id: id, ...rowOf(outcome) }),
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

function rowOf(outcome: Outcome) {
  switch (outcome.kind) {
    case 'answered':
      return { status: 'completed', result_json: outcome.body, error_json: null };
    case 'empty':
      return { status: 'completed', result_json: {}, error_json: null };
    case 'refused': {
      // A row has no status of its own, only the words that go with one.
      const words = STATUS_CODES[outcome.status] ?? 'Error';
      return failed(`${words}: ${outcome.message}`);
    }
    case 'unstated':
      return failed('The worker went away');
    case 'expired':
      return failed('The completion window has passed');
    case 'canceled':
      return { status: 'cancelled', result_json: null, error_json: null };
  }
}

function failed(detail: string) {
  return { status: 'failed', result_json: null, error_json: { detail } };
}
