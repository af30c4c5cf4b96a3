import type { JsonObject } from '../server/json.ts';
import { type Batch, type Ending, namesResults, type Phase } from '../world/batches/batch.ts';
import type { World } from '../world/world.ts';
import { datasetName, jobName } from './names.ts';

/** What only jobs of Fireworks have. */
export interface FireworksJob {
  model: string;
  displayName: string;
  inputDatasetId: string;
  input: Buffer[];
  exampleCount: number;
  outputDatasetId: string;
  continuedFrom: string | null;
  /** Somebody has deleted it: it is shown for a while, and then it is gone. */
  isDeleted: boolean;
}

const states: Record<Exclude<Phase, 'ended'> | Ending, string> = {
  validating: 'VALIDATING',
  in_progress: 'RUNNING',
  finalizing: 'WRITING_RESULTS',
  cancelling: 'CANCELLING',
  completed: 'COMPLETED',
  failed: 'FAILED',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
};

export function jobObject({ settings }: World, batch: Batch<FireworksJob>): JsonObject {
  const { id, details, createdAt, counts, errors, total, phase, ending } = batch;
  const { model, displayName, inputDatasetId, outputDatasetId, continuedFrom } = details;
  const isShown = phase !== 'ended' || namesResults(batch);
  const [error] = errors;
  const processed = counts.succeeded + counts.errored;
  const isWrong = settings.wrongRequestCounts && ending !== null;
  return {
    name: jobName(id),
    displayName,
    createTime: new Date(createdAt).toISOString(),
    createdBy: 'somebody@example.com',
    state: stateOf(batch),
    status: error
      ? { code: 'INVALID_ARGUMENT', message: error.message }
      : { code: 'OK', message: '' },
    model,
    inputDatasetId: datasetName(inputDatasetId),
    // Also where the job has failed, and there is no such dataset.
    ...(isShown && !details.isDeleted && { outputDatasetId: datasetName(outputDatasetId) }),
    ...(continuedFrom !== null && { continuedFromJobName: continuedFrom }),
    ...(!settings.nullRequestCounts && {
      jobProgress: {
        percent: total === 0 ? 0 : Math.floor((100 * processed) / total),
        // What was said of the dataset, whatever is in it.
        totalInputRequests: details.exampleCount,
        totalProcessedRequests: processed,
        successfullyProcessedRequests: isWrong ? total : counts.succeeded,
        failedRequests: isWrong ? 0 : counts.errored,
      },
    }),
  };
}

function stateOf({ phase, ending, script, details }: Batch<FireworksJob>): string {
  if (phase !== 'ended') {
    const scripted = phase === 'in_progress' ? script.unknownStatus : undefined;
    if (phase === 'cancelling' && details.isDeleted) return 'JOB_STATE_DELETING';
    return scripted ?? `JOB_STATE_${states[phase]}`;
  }
  if (details.isDeleted) return 'JOB_STATE_DELETING_CLEANING_UP';
  return script.finalStatus ?? `JOB_STATE_${states[ending as Ending]}`;
}
