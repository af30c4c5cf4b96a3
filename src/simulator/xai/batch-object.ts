import type { Batch } from '../world/batches/batch.ts';
import type { World } from '../world/world.ts';
import type { XaiBatch } from './batch-wire.ts';

const thirtyDays = 30 * 24 * 3600 * 1000;

/** The batch of the wire: counters, and no status. */
export function batchObject({ settings }: World, batch: Batch<XaiBatch>) {
  const { id, createdAt, reachedAt, details, ending, errors } = batch;
  const refused = ending === 'failed' ? errors[0]?.message : undefined;
  const cancelledAt = reachedAt.cancelling ?? (refused && reachedAt.failed);
  return {
    batch_id: id,
    name: details.name,
    create_time: timestamp(createdAt),
    expire_time: timestamp(reachedAt.expired ?? createdAt + thirtyDays),
    create_api_key_id: `key-of-${batch.account}`,
    cancel_time: cancelledAt ? timestamp(cancelledAt) : null,
    cancel_by_xai_message: refused ?? null,
    input_file_id: details.inputFileId,
    state: settings.nullRequestCounts ? null : countersOf(batch, settings.wrongRequestCounts),
    cost_breakdown: { total_cost_usd_ticks: 0, endpoint_costs: [] },
  };
}

/** What an expired batch did not get to stays pending. */
function countersOf({ total, counts, phase }: Batch, areWrong: boolean) {
  const { succeeded, errored, canceled } = counts;
  if (areWrong && phase === 'ended') return counters(total, 0, total, 0, 0);
  return counters(total, total - succeeded - errored - canceled, succeeded, errored, canceled);
}

function counters(all: number, pending: number, good: number, bad: number, cancelled: number) {
  return {
    num_requests: all,
    num_pending: pending,
    num_success: good,
    num_error: bad,
    num_cancelled: cancelled,
  };
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
