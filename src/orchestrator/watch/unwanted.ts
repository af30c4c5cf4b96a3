import { BatchlingError } from '../../errors.ts';
import type { ActiveBatch } from '../model/batch.ts';

/** Nobody has time left for the batch, or nobody waits for it any more; it was not created. */
export class UnwantedError extends BatchlingError {
  constructor({ token }: ActiveBatch) {
    super('NOT_SENT', `Batch ${token} was not sent: nobody waits for it any more.`);
  }
}

/** The provider will never take so much at once; it was not created. */
export class TooMuchError extends BatchlingError {
  constructor({ token }: ActiveBatch) {
    super('NOT_SENT', `Batch ${token} was not sent: it is sent in parts.`);
  }
}

export function isUnwanted(batch: ActiveBatch): boolean {
  return !batch.isWaitedFor(({ due }) => !due);
}

/** Ends the waiting of a batch that is not created yet and that nobody has time for. */
export function endIfUnwanted(batch: ActiveBatch): void {
  if (batch.remote === undefined && isUnwanted(batch)) {
    batch.ending.abort(new UnwantedError(batch));
  }
}
