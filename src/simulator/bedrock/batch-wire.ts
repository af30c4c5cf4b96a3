import { toChunks } from '../server/lines.ts';
import type { Batch, Outcome } from '../world/batches/batch.ts';
import type { BatchWire } from '../world/batches/batch-wire.ts';
import { readsNotFound, shuffledResults } from '../world/batches/results.ts';
import type { World } from '../world/world.ts';
import type { BedrockJob } from './details.ts';
import { dialectOfJob } from './dialect.ts';
import type { Objects } from './objects.ts';

export function createWire(world: World, objects: Objects): BatchWire<BedrockJob> {
  return {
    failsAsWhole: true,
    dialect: ({ details }) => dialectOfJob(details.modelId, details.type),
    resultLine: row,

    async prepare({ details }) {
      const { requests, problem } = details;
      details.requests = [];
      return problem === null ? requests : { errors: [problem] };
    },

    /** Rows and a manifest go to a folder with the id of the job. */
    async publish(batch) {
      const { account, details, id, counts, requests } = batch;
      const folder = `${details.outputUri.replace(/\/?$/, '/')}${id}/`;
      const name = details.inputUri.split('/').at(-1) ?? '';
      const { succeeded, errored } = counts;
      const manifest = {
        totalRecordCount: requests,
        processedRecordCount: succeeded + errored,
        successRecordCount: succeeded,
        errorRecordCount: errored,
      };
      const common = { account, createdAt: world.clock.now(), isOutput: true };
      objects.put(`${folder}${name}.out`, {
        ...common,
        chunks: await toChunks(shuffledResults(world, batch), world.clock),
        readsNotFound: readsNotFound(world, batch),
      });
      const chunks = [Buffer.from(JSON.stringify(manifest))];
      objects.put(`${folder}manifest.json.out`, { ...common, chunks, readsNotFound: 0 });
    },
  };
}

/** One row: the record as it was, and its answer or error. What was not run is not written at all. */
function row(
  { details, phase }: Batch<BedrockJob>,
  recordId: string,
  outcome: Outcome,
): string | null {
  const modelInput = details.echoes.get(recordId) ?? {};
  switch (outcome.kind) {
    case 'answered':
      return JSON.stringify({ modelInput, modelOutput: outcome.body, recordId });
    case 'empty':
      return JSON.stringify({ modelInput, modelOutput: {}, recordId });
    case 'refused': {
      const error = { errorCode: outcome.status, errorMessage: outcome.message };
      return JSON.stringify({ modelInput, error, recordId });
    }
    case 'unstated':
      return JSON.stringify({ modelInput, recordId });
    default:
      return phase === 'in_progress' ? JSON.stringify({ modelInput, recordId }) : null;
  }
}
