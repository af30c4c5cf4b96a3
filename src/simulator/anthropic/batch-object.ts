import { type Batch, namesResults } from '../world/batches/batch.ts';
import type { SimulatorSettings } from '../world/settings.ts';
import type { World } from '../world/world.ts';

/** The MessageBatch of the wire. */
export function batchObject(batch: Batch, { settings, clock }: World, origin: string) {
  const archivedAt = archivedBy(batch, settings);
  const isArchived = clock.now() >= archivedAt;
  const isNamed = namesResults(batch) && !isArchived;
  return {
    id: batch.id,
    type: 'message_batch',
    processing_status: statusOf(batch),
    request_counts: countsOf(batch, settings),
    created_at: timestamp(batch.createdAt),
    expires_at: timestamp(batch.createdAt + 24 * 3600 * 1000),
    ended_at: timestamp(batch.reachedAt.ended),
    cancel_initiated_at: timestamp(batch.reachedAt.cancelling),
    archived_at: isArchived ? timestamp(archivedAt) : null,
    results_url: isNamed ? `${origin}/v1/messages/batches/${batch.id}/results` : null,
  };
}

/** The time from which the results of an ended batch can no longer be read. */
export function archivedBy(batch: Batch, { resultsKept }: SimulatorSettings): number {
  const { ended = Number.POSITIVE_INFINITY } = batch.reachedAt;
  return Math.max(ended, batch.createdAt + resultsKept);
}

function statusOf({ phase, script }: Batch): string {
  if (phase === 'ended') return 'ended';
  if (phase === 'cancelling') return 'canceling';
  return script.unknownStatus ?? 'in_progress';
}

/** Every tally but `processing` stays 0 until the whole batch has ended. */
function countsOf({ phase, total, counts }: Batch, settings: SimulatorSettings) {
  const none = { processing: 0, succeeded: 0, errored: 0, canceled: 0, expired: 0 };
  if (settings.nullRequestCounts) return null;
  if (phase !== 'ended') return { ...none, processing: total };
  if (settings.wrongRequestCounts) return { ...none, succeeded: total };
  return { ...none, ...counts };
}

function timestamp(milliseconds: number | undefined): string | null {
  return milliseconds === undefined ? null : new Date(milliseconds).toISOString();
}
