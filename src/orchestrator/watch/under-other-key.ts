import type { Answer } from '../../base/types.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';

/** What callers get whose request is in a batch that this credential cannot see. */
export function underOtherKey({ token, remote, batcher }: Batch): Answer {
  const message =
    `BATCH_UNDER_OTHER_KEY: this request is in batch ${token} ` +
    `(${remote?.id ?? 'not known whether it was accepted'}), which was ` +
    'sent with another API key and cannot be read with this one. Nothing was sent again. Run the ' +
    'program with that key to collect the answers, or use another store to pay for new ones.';
  return ownAnswer(batcher, 'batch_under_other_key', message);
}
