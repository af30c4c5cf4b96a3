import { BatchlingError } from '../../base/errors.ts';
import type { BatchFailure } from '../batcher.ts';

/** The provider said no to a whole batch; nothing of it runs and nothing is billed. */
export class RefusedError extends BatchlingError {
  readonly failure: BatchFailure;

  constructor(failure: BatchFailure) {
    super('REFUSED', failure.message, { facts: { reason: failure.code } });
    this.name = 'RefusedError';
    this.failure = failure;
  }
}
