import { messageOf } from '../../base/errors.ts';
import { type OwnReason, ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';
import type { BatchEnd } from '../model/batch-end.ts';

/** The batch may be paid for and cannot be followed: its callers are told why, and nothing of it is sent again. */
function givenUp({ batcher }: Batch, reason: OwnReason, message: string): BatchEnd {
  return { is: 'given up', answer: ownAnswer(batcher, reason, message) };
}

/** This credential cannot see the batch. */
export function underOtherKey(batch: Batch): BatchEnd {
  const { token, remote } = batch;
  const message =
    `BATCH_UNDER_OTHER_KEY: this request is in batch ${token} ` +
    `(${remote?.id ?? 'not known whether it was accepted'}), which was ` +
    'sent with another API key and cannot be read with this one. Nothing was sent again. Run the ' +
    'program with that key to collect the answers, or use another store to pay for new ones.';
  return givenUp(batch, 'batch_under_other_key', message);
}

/** The batch is older than any provider lets a batch become, whether it can be read or not. */
export function overdue(batch: Batch, error: unknown): BatchEnd {
  const why = error instanceof Error ? ` Reading it failed at last with: ${error.message}` : '';
  const message =
    `Batch ${batch.token} (${batch.remote?.id}) has neither ended nor expired long after its ` +
    `completion window. It stays in the ledger: run the program again to look for its answers.${why}`;
  return givenUp(batch, 'expired', message);
}

/** The provider has the batch, and an error that no rule explains has ended its watch. */
export function lostTrack(batch: Batch, error: unknown): BatchEnd {
  const message =
    `Batch ${batch.token} (${batch.remote?.id}) could not be followed to its end: ${messageOf(error)} It stays in ` +
    'the ledger: run the program again to collect its answers.';
  return givenUp(batch, 'missing', message);
}

/** A batch of an earlier run met an error that no rule explains before the provider was known to have it. */
export function notContinued(batch: Batch, error: unknown): BatchEnd {
  const message = `Batch ${batch.token} of an earlier run could not be continued: ${messageOf(error)}`;
  return givenUp(batch, 'store', message);
}
