import { type Batch, namesResults } from '../../world/batches/batch.ts';
import type { SimulatorSettings } from '../../world/settings.ts';
import type { World } from '../../world/world.ts';
import type { OpenAILike, StatusWord } from '../description.ts';
import type { OpenAIBatch } from './details.ts';

export function statusOf({ statuses }: OpenAILike, { ending, phase, script }: Batch): string {
  const word = ending ?? (phase as StatusWord);
  const scripted = ending === null ? script.unknownStatus : script.finalStatus;
  const isScripted = ending !== null || phase === 'in_progress';
  return (isScripted ? scripted : undefined) ?? statuses[word] ?? word;
}

/** The Batch of the wire. */
export function batchObject({ settings }: World, like: OpenAILike, batch: Batch<OpenAIBatch>) {
  const { details, reachedAt } = batch;
  const named = namesResults(batch) || settings.earlyResults || like.earlyResults === true;
  const errorFileId = named ? details.errorFileId : null;
  const createdAt = seconds(batch.createdAt);
  return {
    id: batch.id,
    object: 'batch',
    endpoint: details.endpoint,
    ...(details.model !== null && { model: details.model }),
    status: statusOf(like, batch),
    errors: errorsOf(batch, settings),
    input_file_id: details.inputFileId,
    output_file_id: named ? details.outputFileId : null,
    error_file_id: errorFileId ?? (settings.emptyErrorFileId ? '' : null),
    completion_window: details.window,
    created_at: createdAt,
    in_progress_at: seconds(reachedAt.in_progress),
    finalizing_at: seconds(reachedAt.finalizing),
    completed_at: seconds(reachedAt.completed),
    expires_at: (createdAt ?? 0) + 24 * 3600,
    failed_at: seconds(reachedAt.failed),
    expired_at: seconds(reachedAt.expired),
    cancelling_at: seconds(reachedAt.cancelling),
    cancelled_at: seconds(reachedAt.cancelled),
    request_counts: countsOf(batch, settings),
    ...usageOf(batch),
    metadata: details.metadata,
  };
}

function errorsOf({ errors }: Batch, { bareErrors, linesFromZero }: SimulatorSettings) {
  if (errors.length === 0) return null;
  const data = errors.map(({ code, line = null, message, param = null }) => ({
    code,
    line: linesFromZero && line !== null ? line - 1 : line,
    message,
    param,
  }));
  return bareErrors ? data : { object: 'list', data };
}

/**
 * Requests that were never executed count neither as completed nor as failed: an expired batch
 * was seen with total 10, completed 1, failed 0. A line that itself says `expired` is a failure.
 */
function countsOf(batch: Batch, settings: SimulatorSettings) {
  const { total, counts, ending } = batch;
  if (settings.nullRequestCounts) return null;
  if (settings.wrongRequestCounts && ending !== null) return { total, completed: total, failed: 0 };
  const leftOver = ending === 'expired' || ending === 'cancelled';
  const failed = counts.errored + (leftOver ? 0 : counts.expired + counts.canceled);
  return { total, completed: counts.succeeded, failed };
}

/** The usage is missing until it is known, and never null; the same holds for the model. */
function usageOf({ tokens, ending }: Batch) {
  if (ending === null || ending === 'failed') return {};
  const usage = {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: tokens.input + tokens.output,
  };
  return { usage };
}

function seconds(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : Math.floor(milliseconds / 1000);
}
