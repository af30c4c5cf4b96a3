import { BatchlingError } from '../errors.ts';
import type { ActiveBatch } from './active-batch.ts';

/** Nobody has time left for the batch, or nobody waits for it any more; it was not created. */
export class UnwantedError extends BatchlingError {
  constructor({ token }: ActiveBatch) {
    super('NOT_SENT', `Batch ${token} was not sent: nobody waits for it any more.`);
  }
}

export function isUnwanted(batch: ActiveBatch): boolean {
  return batch.waiting().every(({ due }) => due);
}

/** Until the first of those who wait runs out of time. */
export function timeLeft(batch: ActiveBatch, now: number): number {
  let left = Number.POSITIVE_INFINITY;
  for (const { dueAt, due } of batch.waiting()) {
    if (dueAt !== undefined && !due) left = Math.min(left, dueAt - now + 1);
  }
  return Math.max(0, left);
}
