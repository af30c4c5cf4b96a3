import { rpcError } from '../google/errors.ts';
import type { JsonObject } from '../server/json.ts';
import { type Batch, type Ending, namesResults, type Phase } from '../world/batches/batch.ts';
import type { World } from '../world/world.ts';
import type { VertexJob } from './details.ts';
import { projectNumber } from './names.ts';

const states: Record<Exclude<Phase, 'ended'> | Ending, string> = {
  validating: 'PENDING',
  in_progress: 'RUNNING',
  finalizing: 'RUNNING',
  cancelling: 'CANCELLING',
  completed: 'SUCCEEDED',
  failed: 'FAILED',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
};

export function jobName({ id, details }: Batch<VertexJob>): string {
  const { project, location } = details;
  return `projects/${projectNumber(project)}/locations/${location}/batchPredictionJobs/${id}`;
}

/** A job as it is created, asked for and listed. */
export function jobObject(world: World, batch: Batch<VertexJob>): JsonObject {
  const { details, createdAt, reachedAt, phase } = batch;
  const { in_progress: started, ended } = reachedAt;
  const error = errorOf(batch);
  const hasOutput = phase === 'ended' && namesResults(batch) && details.directory !== null;
  return {
    name: jobName(batch),
    displayName: details.displayName,
    model: details.model,
    inputConfig: { instancesFormat: 'jsonl', gcsSource: { uris: [details.inputUri] } },
    outputConfig: {
      predictionsFormat: 'jsonl',
      gcsDestination: { outputUriPrefix: details.outputUri },
    },
    ...(hasOutput && { outputInfo: { gcsOutputDirectory: details.directory } }),
    state: stateOf(batch),
    ...(error && { error }),
    ...(phase === 'ended' && statsOf(world, batch)),
    createTime: timestamp(createdAt),
    ...(started !== undefined && { startTime: timestamp(started) }),
    ...(ended !== undefined && { endTime: timestamp(ended) }),
    updateTime: timestamp(ended ?? started ?? createdAt),
    ...(details.labels !== undefined && { labels: details.labels }),
    modelVersionId: '1',
  };
}

function stateOf({ phase, ending, script }: Batch): string {
  if (phase === 'ended') return script.finalStatus ?? `JOB_STATE_${states[ending as Ending]}`;
  if (phase === 'in_progress' && script.unknownStatus !== undefined) return script.unknownStatus;
  return `JOB_STATE_${states[phase]}`;
}

function errorOf({ ending, errors }: Batch): object | undefined {
  if (ending === 'cancelled') return rpcError(499, 'The job was cancelled.');
  if (ending !== 'failed') return undefined;
  const [first] = errors;
  const status = first?.code === 'token_limit_exceeded' ? 429 : 400;
  return rpcError(status, first?.message ?? 'The job failed.');
}

/** Numbers of 64 bits are texts; what was never counted is -1. */
function statsOf({ settings }: World, { requests, counts, ending }: Batch): JsonObject {
  if (settings.nullRequestCounts || ending === 'failed') return {};
  const isFine = settings.wrongRequestCounts;
  const left = counts.expired + counts.canceled;
  return {
    completionStats: {
      successfulCount: String(isFine ? requests : counts.succeeded),
      ...(counts.errored > 0 && !isFine && { failedCount: String(counts.errored) }),
      incompleteCount: left > 0 && !isFine ? String(left) : '-1',
    },
  };
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
