import { BatchlingError, messageOf } from '../../base/errors.ts';
import type { Answer } from '../../base/types.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';

/** Whether the batch was accepted could not be seen for too long. Nothing of it is sent again. */
export class UnseenError extends BatchlingError {
  /** What its callers are told. */
  readonly answer: Answer;

  constructor({ token }: Batch, answer: Answer) {
    super('UNKNOWN_OUTCOME', `It could not be seen whether batch ${token} was accepted.`);
    this.answer = answer;
  }
}

/** What callers are told when the batches of their account could not be read for too long. */
export function unseenAnswer({ batcher, token }: Batch, error: unknown): Answer {
  const message =
    `It could not be seen whether batch ${token} was accepted: the batches of the account cannot ` +
    `be read (${messageOf(error)}). Nothing was sent again. It stays in the ledger: run the program again ` +
    'to look for it.';
  return ownAnswer(batcher, 'missing', message);
}
