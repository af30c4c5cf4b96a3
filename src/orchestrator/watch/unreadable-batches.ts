import type { BatchFailure, ReplyMeaning } from '../../batchers/batcher.ts';
import { ReplyError } from '../../batchers/shared/replies.ts';
import { BatchlingError, LeaseLostError } from '../../errors.ts';
import type { Answer } from '../../types.ts';
import { dissolve } from '../collect/dissolve.ts';
import type { ActiveBatch, LostReason } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { ownAnswer } from '../model/own-answer.ts';
import { deniedPatience, emptyPatience, missingPatience } from '../model/patience.ts';
import { giveUpOn } from './give-up.ts';

/** Where lines of a batch should be, there is none that could be read. */
export class UnreadableError extends BatchlingError {
  readonly reason: 'unreadable' | 'empty';

  constructor({ token }: ActiveBatch, reason: 'unreadable' | 'empty') {
    super('REFUSED', `Results of batch ${token} hold no line that could be read.`);
    this.reason = reason;
  }
}

const patienceWith = {
  missing: missingPatience,
  unreadable: missingPatience,
  empty: emptyPatience,
};

/**
 * Accepted batches that cannot be read. They may be paid for, so nothing is sent again in haste: not
 * when the key is refused, not under another key, and "not found" only after half an hour.
 */
export class LostBatches {
  readonly #workshop: Workshop;
  readonly #unwatch: (batch: ActiveBatch) => void;

  constructor(workshop: Workshop, unwatch: (batch: ActiveBatch) => void) {
    this.#workshop = workshop;
    this.#unwatch = unwatch;
  }

  /** The provider does not know the batch. */
  missing(batch: ActiveBatch): void {
    if (batch.underOtherKey) {
      this.#stop(batch, underOtherKey(batch));
      return;
    }
    if (this.#since(batch, 'missing') < missingPatience) return;
    this.#unwatch(batch);
    batch.makeRoom();
    this.#workshop.background(`send batch ${batch.token} again`, this.#sendAgain(batch));
  }

  /** The provider refuses the key. */
  denied(batch: ActiveBatch, failure: BatchFailure): void {
    if (batch.underOtherKey) this.#stop(batch, underOtherKey(batch));
    else if (this.#since(batch, 'denied') >= deniedPatience && failure.answer)
      this.#stop(batch, failure.answer);
  }

  /** An error, whatever it was: only one that lasts, of a batch that should be long over, counts. */
  unread(batch: ActiveBatch, error: unknown): void {
    if (this.#since(batch, 'error') >= missingPatience) this.overdue(batch, error);
  }

  /** Older than any provider lets a batch become, whether it can be read or not. */
  overdue(batch: ActiveBatch, error?: unknown): void {
    const { outlives } = batch.batcher.limits(batch.queue);
    if (this.#workshop.clock.now() - batch.acceptedAt < outlives) return;
    const why = error instanceof Error ? ` Reading it failed at last with: ${error.message}` : '';
    const message =
      `Batch ${batch.token} (${batch.remote?.id}) has neither ended nor expired long after its ` +
      `completion window. It stays in the ledger: run the program again to look for its answers.${why}`;
    this.#stop(batch, ownAnswer(batch.batcher, 'expired', message));
  }

  /**
   * Its results cannot be read. `again`: a matter of time. `missing`: they are gone. `stuck`: the
   * callers have been told, and the batch stays in the ledger for another day.
   */
  unreadable(batch: ActiveBatch, error: unknown): 'again' | 'missing' | 'stuck' {
    const meaning = error instanceof ReplyError ? error.failure.meaning : undefined;
    const gone = goneBy(error, meaning);
    if (gone && !batch.underOtherKey) {
      return this.#since(batch, gone) < patienceWith[gone] ? 'again' : 'missing';
    }
    if (gone) this.#stop(batch, underOtherKey(batch));
    else if (meaning === 'denied') this.denied(batch, (error as ReplyError).failure);
    else this.unread(batch, error);
    return batch.stuck ? 'stuck' : 'again';
  }

  /** Whether results that are still to come have had their time. */
  isTooLate(batch: ActiveBatch): boolean {
    const now = this.#workshop.clock.now();
    batch.incompleteSince ??= now;
    return now - batch.incompleteSince >= missingPatience;
  }

  /** Readable again. */
  found(batch: ActiveBatch): void {
    batch.lostSince.clear();
  }

  /** Each reason for itself: half an hour of 500 does not make the first "not found" any truer. */
  #since({ lostSince }: ActiveBatch, reason: LostReason): number {
    const now = this.#workshop.clock.now();
    const since = lostSince.get(reason) ?? now;
    lostSince.set(reason, since);
    return now - since;
  }

  #stop(batch: ActiveBatch, answer: Answer): void {
    this.#unwatch(batch);
    const { background } = this.#workshop;
    background(`give up on batch ${batch.token}`, giveUpOn(this.#workshop, batch, answer));
  }

  async #sendAgain(batch: ActiveBatch): Promise<void> {
    const reason = 'the provider no longer knows it';
    batch.emit('batch:resent', { ...batch.facts(), reason: `sent again: ${reason}`, gone: true });
    const { ledger, report, rejoin } = this.#workshop;
    try {
      await ledger.refused(batch.lease, reason);
    } catch (error) {
      if (error instanceof LeaseLostError) {
        rejoin(batch);
        return;
      }
      report(`note that batch ${batch.token} is gone`, error);
      // Nothing can be planned anew: to the ledger these requests are still under way.
      const message = `Batch ${batch.token} is gone and could not be sent again: ${String(error)}`;
      await giveUpOn(this.#workshop, batch, ownAnswer(batch.batcher, 'store', message));
      return;
    }
    for (const pending of await dissolve(this.#workshop, batch)) pending.queue.add(pending);
  }
}

function goneBy(
  error: unknown,
  meaning: ReplyMeaning | undefined,
): keyof typeof patienceWith | undefined {
  if (meaning === 'gone') return 'missing';
  return error instanceof UnreadableError ? error.reason : undefined;
}

export function underOtherKey(batch: ActiveBatch): Answer {
  const message =
    `BATCH_UNDER_OTHER_KEY: this request is in batch ${batch.token} ` +
    `(${batch.remote?.id ?? 'not known whether it was accepted'}), which was ` +
    'sent with another API key and cannot be read with this one. Nothing was sent again. Run the ' +
    'program with that key to collect the answers, or use another store to pay for new ones.';
  return ownAnswer(batch.batcher, 'batch_under_other_key', message);
}
