import type { Batch } from '../world/batches/batch.ts';
import type { SferenceBatch } from './batch-wire.ts';

/** The batch of the wire: no counters, no errors. */
export function batchObject(batch: Batch<SferenceBatch>) {
  const { id, createdAt, reachedAt, details, tokens, phase } = batch;
  const ended = reachedAt.ended;
  const isEnded = phase === 'ended';
  return {
    id,
    status: statusOf(batch),
    window: '24h',
    request_count: details.count,
    created_at: timestamp(createdAt),
    updated_at: timestamp(ended ?? reachedAt.in_progress ?? createdAt),
    completed_at: ended === undefined ? null : timestamp(ended),
    total_prompt_tokens: isEnded ? tokens.input : 0,
    total_completion_tokens: isEnded ? tokens.output : 0,
    total_tokens: isEnded ? tokens.input + tokens.output : 0,
  };
}

export function statusOf({ phase, ending, script }: Batch): string {
  if (phase === 'validating') return 'pending';
  if (phase !== 'ended') return script.unknownStatus ?? 'running';
  if (ending === 'cancelled') return 'cancelled';
  return ending === 'completed' && script.outcome !== 'failed' ? 'completed' : 'failed';
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '+00:00');
}
