import { BatchlingError } from '../../base/errors.ts';
import type { Batch } from './batch.ts';

/** Nobody has time left for the batch, or nobody waits for it any more; it was not created. */
export class UnwantedError extends BatchlingError {
  constructor({ token }: Batch) {
    super('NOT_SENT', `Batch ${token} was not sent: nobody waits for it any more.`);
  }
}

/** The provider will never take so much at once; it was not created. */
export class TooMuchError extends BatchlingError {
  constructor({ token }: Batch) {
    super('NOT_SENT', `Batch ${token} was not sent: it is sent in parts.`);
  }
}

/** Ends the waiting of a batch that is not created yet and that nobody has time for. */
export function endIfUnwanted(batch: Batch): void {
  if (batch.remote === undefined && !batch.isWanted) batch.ending.abort(new UnwantedError(batch));
}
