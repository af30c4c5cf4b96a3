import { isObject, type JsonObject, parseJson } from '../server/json.ts';
import { type Batch, type Ending, namesResults, type Phase } from '../world/batches/batch.ts';
import type { SimulatorSettings } from '../world/settings.ts';
import type { World } from '../world/world.ts';
import type { GoogleBatch } from './details.ts';
import { rpcError } from './errors.ts';

const typeRoot = 'type.googleapis.com/google.ai.generativelanguage.v1main';

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

/** A batch as it is created, asked for and listed: a long-running operation. */
export function operation(world: World, batch: Batch<GoogleBatch>): JsonObject {
  const { id, details, createdAt, reachedAt, phase } = batch;
  const kind = details.method === 'embedContent' ? 'EmbedContentBatch' : 'GenerateContentBatch';
  const output = outputOf(world, batch);
  const error = errorOf(batch);
  const { ended } = reachedAt;
  return {
    name: `batches/${id}`,
    metadata: {
      '@type': `${typeRoot}.${kind}`,
      model: `models/${details.model}`,
      displayName: details.displayName,
      ...(details.fileId !== null && { inputConfig: { fileName: `files/${details.fileId}` } }),
      ...(output && { output }),
      createTime: timestamp(createdAt),
      ...(ended !== undefined && { endTime: timestamp(ended) }),
      updateTime: timestamp(ended ?? createdAt),
      ...statsOf(batch, world.settings),
      state: stateOf(batch),
      name: `batches/${id}`,
    },
    ...(phase === 'ended' && { done: true }),
    ...(error && { error }),
    ...(phase === 'ended' && output && { response: { '@type': `${typeRoot}.${kind}`, ...output } }),
  };
}

function stateOf({ phase, ending, script }: Batch): string {
  if (phase === 'ended') return script.finalStatus ?? `BATCH_STATE_${states[ending as Ending]}`;
  if (phase === 'in_progress' && script.unknownStatus !== undefined) return script.unknownStatus;
  return `BATCH_STATE_${states[phase]}`;
}

/** Only a batch that succeeded has answers; what others have done is lost. */
function outputOf({ settings, clock }: World, batch: Batch<GoogleBatch>): JsonObject | undefined {
  const { phase, ending, details, results, reachedAt } = batch;
  if (phase === 'in_progress' && settings.earlyResults && details.fileId === null) {
    return inlined(results.answered.map((line) => JSON.parse(line) as object));
  }
  if (ending !== 'completed' || details.output === null || !namesResults(batch)) return undefined;
  if ('fileId' in details.output) return { responsesFile: `files/${details.output.fileId}` };
  const isKept = clock.now() - (reachedAt.ended ?? 0) < settings.resultsKept;
  return isKept ? inlined(details.output.inlined) : undefined;
}

function inlined(responses: readonly object[]): JsonObject {
  return { inlinedResponses: { inlinedResponses: responses } };
}

function errorOf({ ending, errors }: Batch): object | undefined {
  if (ending === 'cancelled') return rpcError(499, 'The operation was cancelled.');
  if (ending !== 'failed') return undefined;
  const [first] = errors;
  const status = first?.code === 'token_limit_exceeded' ? 429 : 400;
  return rpcError(status, first?.message ?? 'The batch failed.');
}

/** Numbers of 64 bits are texts in JSON, and a zero is left out. */
function statsOf(batch: Batch<GoogleBatch>, settings: SimulatorSettings): JsonObject {
  const { requests, counts } = batch;
  if (settings.nullRequestCounts) return {};
  const failed = counts.errored + counts.expired + counts.canceled;
  const isFine = settings.wrongRequestCounts && batch.phase === 'ended';
  const numbers = {
    requestCount: requests,
    successfulRequestCount: isFine ? requests : counts.succeeded,
    failedRequestCount: isFine ? 0 : failed,
    pendingRequestCount: isFine ? 0 : Math.max(0, requests - counts.succeeded - failed),
  };
  const shown = Object.entries(numbers)
    .filter(([, value]) => value !== 0)
    .map(([name, value]) => [name, String(value)]);
  return { batchStats: Object.fromEntries(shown) };
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Items of an output that stands in the batch; what is no JSON cannot stand there. */
export function itemOf(line: string): object {
  const value = parseJson(line);
  return isObject(value) ? value : {};
}
