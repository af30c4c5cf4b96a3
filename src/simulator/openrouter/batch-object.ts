import { statusOf } from '../openai-like/batches/batch-object.ts';
import { type Batch, namesResults } from '../world/batches/batch.ts';
import type { World } from '../world/world.ts';
import type { OpenRouterBatch } from './batch-wire.ts';
import { openrouterDescription } from './description.ts';

/** A batch as lists show it: without its results. */
export function batchObject({ settings }: World, batch: Batch<OpenRouterBatch>) {
  const { id, details, createdAt, reachedAt, ending, counts } = batch;
  const failed = counts.errored + counts.expired + counts.canceled;
  const isFine = settings.wrongRequestCounts && ending !== null;
  const { count: total } = details;
  return {
    id,
    object: 'batch',
    endpoint: details.endpoint,
    model: details.model,
    provider: details.model.split('/')[0] ?? null,
    completion_window: '24h',
    status: statusOf(openrouterDescription, batch),
    created_at: seconds(createdAt),
    expires_at: seconds(createdAt) + 24 * 3600,
    finalized_at: reachedAt.ended === undefined ? null : seconds(reachedAt.ended),
    request_counts: settings.nullRequestCounts
      ? null
      : { total, completed: isFine ? total : counts.succeeded, failed: isFine ? 0 : failed },
    usage: ending === 'completed' ? usageOf(batch) : null,
    results: null,
    error: errorOf(batch, failed),
  };
}

/** The same with its results. Only a completed batch has some; what others have done is lost. */
export function wholeBatch(world: World, batch: Batch<OpenRouterBatch>) {
  const { ending, details, reachedAt } = batch;
  const isKept = world.clock.now() - (reachedAt.ended ?? 0) < world.settings.resultsKept;
  const isShown = ending === 'completed' && isKept && namesResults(batch);
  return { ...batchObject(world, batch), results: isShown ? details.results : null };
}

/** A completed batch of failures alone says so, beside its results. */
function errorOf({ ending, errors, total }: Batch, failed: number) {
  if (ending === 'failed') return { message: errors[0]?.message ?? 'The batch failed.' };
  const isAll = ending === 'completed' && total > 0 && failed === total;
  return isAll ? { message: `All ${total} request(s) in this batch failed upstream.` } : null;
}

function usageOf({ tokens }: Batch) {
  const { input, output } = tokens;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    cost: 0,
    is_byok: false,
  };
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000);
}
