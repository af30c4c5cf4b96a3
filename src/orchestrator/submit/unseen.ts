import { BatchlingError, messageOf } from '../../base/errors.ts';
import type { Answer, Clock } from '../../base/types.ts';
import { deniedPatience, missingPatience } from '../../concurrency/patience.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';
import { failureOf } from '../model/failure-of.ts';

/** Whether the batch was accepted could not be seen for too long. Nothing of it is sent again. */
export class UnseenError extends BatchlingError {
  /** What its callers are told. */
  readonly answer: Answer;

  constructor({ token }: Batch, answer: Answer) {
    super('UNKNOWN_OUTCOME', `It could not be seen whether batch ${token} was accepted.`);
    this.answer = answer;
  }
}

/** One series of failed looks at the batches of a provider. */
export class UnseenTrouble {
  readonly #batch: Batch;
  readonly #clock: Clock;
  readonly #createdAt: number;
  readonly #since: number;
  #deniedSince: number | undefined;

  constructor(batch: Batch, clock: Clock, createdAt: number) {
    this.#batch = batch;
    this.#clock = clock;
    this.#createdAt = createdAt;
    this.#since = clock.now();
  }

  /** A look has failed. Returns what to tell the callers, once patience is over. */
  met(error: unknown): Answer | undefined {
    const now = this.#clock.now();
    const failure = failureOf(error);
    if (failure?.meaning === 'denied') {
      this.#deniedSince ??= now;
      return now - this.#deniedSince >= deniedPatience ? failure.answer : undefined;
    }
    const { batcher, queue, token } = this.#batch;
    if (now - this.#since < missingPatience) return undefined;
    if (now - this.#createdAt < queue.limits.outlives) return undefined;
    const reason = messageOf(error);
    const message =
      `It could not be seen whether batch ${token} was accepted: the batches of the account cannot ` +
      `be read (${reason}). Nothing was sent again. It stays in the ledger: run the program again ` +
      'to look for it.';
    return ownAnswer(batcher, 'missing', message);
  }
}
