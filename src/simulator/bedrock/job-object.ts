import type { JsonObject } from '../server/json.ts';
import type { Batch, Ending, Phase } from '../world/batches/batch.ts';
import type { World } from '../world/world.ts';
import type { BedrockJob } from './details.ts';

const states: Record<Exclude<Phase, 'ended'> | Ending, string> = {
  validating: 'Validating',
  in_progress: 'InProgress',
  finalizing: 'InProgress',
  cancelling: 'Stopping',
  completed: 'Completed',
  failed: 'Failed',
  expired: 'PartiallyCompleted',
  cancelled: 'Stopped',
};

const account = '123456789012';

export function arnOf({ id }: Pick<Batch, 'id'>): string {
  return `arn:aws:bedrock:us-east-1:${account}:model-invocation-job/${id}`;
}

/** A job as it is asked for and listed. */
export function jobObject(world: World, batch: Batch<BedrockJob>): JsonObject {
  const { details, createdAt, reachedAt, phase, counts, requests, errors } = batch;
  const { ended } = reachedAt;
  const hasCounts =
    phase !== 'validating' && !world.settings.nullRequestCounts && batch.ending !== 'failed';
  const { succeeded, errored } = counts;
  const isFine = world.settings.wrongRequestCounts;
  return {
    jobArn: arnOf(batch),
    jobName: details.name,
    modelId: details.modelId,
    clientRequestToken: details.token,
    roleArn: details.roleArn,
    status: statusOf(batch),
    ...(batch.ending === 'failed' && { message: errors[0]?.message ?? 'Internal error' }),
    submitTime: new Date(createdAt).toISOString(),
    lastModifiedTime: new Date(ended ?? createdAt).toISOString(),
    ...(ended !== undefined && { endTime: new Date(ended).toISOString() }),
    inputDataConfig: { s3InputDataConfig: { s3InputFormat: 'JSONL', s3Uri: details.inputUri } },
    outputDataConfig: { s3OutputDataConfig: { s3Uri: details.outputUri } },
    timeoutDurationInHours: details.hours,
    jobExpirationTime: new Date(createdAt + details.hours * 3_600_000).toISOString(),
    modelInvocationType: details.type,
    ...(hasCounts && {
      totalRecordCount: requests,
      processedRecordCount: succeeded + errored,
      successRecordCount: isFine ? requests : succeeded,
      errorRecordCount: isFine ? 0 : errored,
    }),
  };
}

function statusOf({ phase, ending, script, counts }: Batch<BedrockJob>): string {
  if (phase === 'ended') {
    const hasRun = counts.succeeded + counts.errored > 0;
    if (ending === 'expired' && !hasRun) return script.finalStatus ?? 'Expired';
    return script.finalStatus ?? states[ending as Ending];
  }
  if (phase === 'in_progress' && script.unknownStatus !== undefined) return script.unknownStatus;
  return states[phase];
}
