import type { BatchFailure, Remote } from '../batchers/batcher.ts';
import { backoff, sleep } from '../http/backoff.ts';
import type { ActiveBatch } from './active-batch.ts';
import { ownAnswer } from './answers.ts';
import { refuse } from './delivery.ts';
import type { PendingRequest } from './pending.ts';
import type { Workshop } from './workshop.ts';

type Resend = (batch: ActiveBatch, requests: readonly PendingRequest[]) => void;

/**
 * Batches that the provider took and then refused as a whole. Nothing of them ran. Waiting for room
 * uses up no attempt; one bad line does not take the others with it.
 */
export class Refusals {
  readonly #workshop: Workshop;
  readonly #resend: Resend;

  constructor(workshop: Workshop, resend: Resend) {
    this.#workshop = workshop;
    this.#resend = resend;
  }

  async handle(batch: ActiveBatch, remote: Remote, failure: BatchFailure): Promise<void> {
    const { ledger, clock, stopped, batches } = this.#workshop;
    await ledger.ended(batch.lease, `${failure.code}: ${failure.message}`);
    // From here on the ledger knows it as over: nobody may be attached to it any more.
    batches.delete(batch.lease.batch);
    batch.emit('batch:ended', { ...batch.facts(), status: `${remote.raw}: ${failure.code}` });
    const orphans = [...batch.members.values()].filter(({ pending }) => pending === undefined);
    await ledger.settled(
      this.#workshop.owner,
      orphans.map(({ request }) => ({ request, is: 'release' }) as const),
    );
    const requests = batch.waiting();
    for (const pending of requests) pending.batch = undefined;
    if (requests.length === 0) return;
    if (failure.next === 'later') {
      batch.queue.refusals += 1;
      const attempt = batch.queue.refusals;
      await sleep(
        clock,
        backoff({ attempt, base: 5_000, retryAfter: failure.retryAfter }),
        stopped,
      );
      this.#resend(batch, requests);
    } else if (failure.next === 'isolate' && failure.line !== undefined) {
      const member = [...batch.members.values()][failure.line - 1];
      const bad = member?.pending;
      await this.#fail(
        requests.filter((pending) => pending === bad),
        failure,
      );
      const others = requests.filter((pending) => pending !== bad);
      if (member === undefined) await this.#fail(others, failure);
      else if (others.length > 0) this.#resend(batch, others);
    } else if (failure.next === 'smaller' && requests.length > 1) {
      const half = Math.ceil(requests.length / 2);
      this.#resend(batch, requests.slice(0, half));
      this.#resend(batch, requests.slice(half));
    } else {
      await this.#fail(requests, failure);
    }
  }

  #fail(requests: readonly PendingRequest[], failure: BatchFailure): Promise<void> {
    const { ledger, owner } = this.#workshop;
    return refuse(ledger, owner, requests, ({ batcher }) => {
      return failure.answer ?? ownAnswer(batcher, 'missing', failure.message);
    });
  }
}
