import type { Answer } from '../../base/types.ts';
import type { Batcher } from '../../batchers/batcher.ts';

/** Why a caller gets an answer of ours instead of the provider's, with its HTTP status. */
export const ownStatuses = {
  expired: 504,
  deadline: 504,
  missing: 502,
  cancelled: 499,
  budget: 402,
  too_large: 413,
  unsupported: 400,
  dry_run: 400,
  store: 500,
  batch_under_other_key: 409,
} as const;

export type OwnReason = keyof typeof ownStatuses;

/** An error body in the provider's shape, so that its SDK raises its normal error class. */
export function ownAnswer(batcher: Batcher, reason: OwnReason, message: string): Answer {
  return {
    status: batcher.finalStatus(ownStatuses[reason]),
    headers: { 'content-type': 'application/json' },
    body: batcher.errorBody(`batchling_${reason}`, message),
  };
}
