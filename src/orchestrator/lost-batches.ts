import type { BatchFailure } from '../batchers/batcher.ts';
import type { Answer } from '../types.ts';
import type { ActiveBatch } from './active-batch.ts';
import { ownAnswer } from './answers.ts';
import { deliver } from './delivery.ts';
import type { PendingRequest } from './pending.ts';
import type { Workshop } from './workshop.ts';

const minute = 60_000;
/** How long a batch of the same account may be "not found" before it is sent again. */
const missingPatience = 30 * minute;
/** How long a key may be refused before the callers are told. */
const deniedPatience = 10 * minute;

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
    if (this.#since(batch) < missingPatience) return;
    this.#unwatch(batch);
    batch.releaseSlot();
    this.#workshop.background(`send batch ${batch.token} again`, this.#sendAgain(batch));
  }

  /** The provider refuses the key. */
  denied(batch: ActiveBatch, failure: BatchFailure): void {
    if (batch.underOtherKey) this.#stop(batch, underOtherKey(batch));
    else if (this.#since(batch) >= deniedPatience && failure.answer)
      this.#stop(batch, failure.answer);
  }

  /** Readable, but older than any provider lets a batch become. */
  overdue(batch: ActiveBatch): void {
    const { outlives } = batch.batcher.limits(batch.queue.endpoint);
    if (this.#workshop.clock.now() - batch.acceptedAt < outlives) return;
    const message =
      `Batch ${batch.token} (${batch.remote?.id}) has neither ended nor expired long after its ` +
      'completion window. It stays in the ledger: run the program again to look for its answers.';
    this.#stop(batch, ownAnswer(batch.batcher, 'expired', message));
  }

  /** Readable again. */
  found(batch: ActiveBatch): void {
    batch.lostSince = undefined;
  }

  #since(batch: ActiveBatch): number {
    const now = this.#workshop.clock.now();
    batch.lostSince ??= now;
    return now - batch.lostSince;
  }

  /** Who waits is told, and who asks later, too. The batch stays in the ledger for another day. */
  #stop(batch: ActiveBatch, answer: Answer): void {
    this.#workshop.logger.error(`batchling gave up on batch ${batch.token}`, { body: answer.body });
    this.#unwatch(batch);
    batch.releaseSlot();
    batch.stuck = answer;
    for (const { pending } of batch.members.values()) {
      if (pending) deliver(pending, answer, 'batch', batch.token);
    }
  }

  async #sendAgain(batch: ActiveBatch): Promise<void> {
    const { ledger, owner, batches } = this.#workshop;
    batch.emit('batch:resent', { ...batch.facts(), reason: 'the provider no longer knows it' });
    await ledger.refused(batch.lease, 'the provider no longer knows it');
    batches.delete(batch.lease.batch);
    const members = [...batch.members.values()].filter(({ settled }) => !settled);
    const wanted: PendingRequest[] = [];
    const orphans: number[] = [];
    for (const { pending, request } of members) {
      if (pending && !pending.settled) wanted.push(pending);
      else orphans.push(request);
    }
    await ledger.settled(
      owner,
      orphans.map((request) => ({ request, is: 'release' }) as const),
    );
    for (const pending of wanted) {
      pending.batch = undefined;
      pending.queue.add(pending);
    }
  }
}

export function underOtherKey(batch: ActiveBatch): Answer {
  const message =
    `BATCH_UNDER_OTHER_KEY: this request is in batch ${batch.token} ` +
    `(${batch.remote?.id ?? 'not known whether it was accepted'}), which was ` +
    'sent with another API key and cannot be read with this one. Nothing was sent again. Run the ' +
    'program with that key to collect the answers, or use another store to pay for new ones.';
  return ownAnswer(batch.batcher, 'batch_under_other_key', message);
}
