import type { ActiveBatch } from './active-batch.ts';
import { ownAnswer } from './answers.ts';
import { deliver, refuse } from './delivery.ts';
import type { PendingRequest } from './pending.ts';
import type { Queues } from './queues.ts';
import { endIfUnwanted, isUnwanted } from './unwanted.ts';
import type { Workshop } from './workshop.ts';

/** Timers beyond this fire at once; who waits longer looks again. */
const longestTimer = 2 ** 31 - 1;

export const deadlineMessage =
  'The deadline passed before the batch had an answer for this request.';

/**
 * The user's `deadline`: the moment we start to cancel. What is not sent yet ends at once. What is
 * under way is cancelled at the provider, and nothing is sent again before that batch has ended:
 * finished answers are taken, and only the rest gets an error or goes out as an ordinary call.
 */
export class Deadlines {
  readonly #workshop: Workshop;
  readonly #queues: () => Queues;
  readonly #waiting = new Set<PendingRequest>();
  #timer: unknown;
  #armedFor = Number.POSITIVE_INFINITY;

  constructor(workshop: Workshop, queues: () => Queues) {
    this.#workshop = workshop;
    this.#queues = queues;
  }

  add(pending: PendingRequest): void {
    if (pending.dueAt === undefined) return;
    this.#waiting.add(pending);
    this.#arm(pending.dueAt);
  }

  close(): void {
    this.#workshop.clock.clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #arm(at: number): void {
    if (at >= this.#armedFor) return;
    const { clock } = this.#workshop;
    clock.clearTimeout(this.#timer);
    this.#armedFor = at;
    const wait = Math.min(Math.max(0, at - clock.now()), longestTimer);
    this.#timer = clock.setTimeout(() => this.#look(), wait);
  }

  #look(): void {
    const { clock, background } = this.#workshop;
    this.#armedFor = Number.POSITIVE_INFINITY;
    const now = clock.now();
    const unsent: PendingRequest[] = [];
    const batches = new Set<ActiveBatch>();
    let next = Number.POSITIVE_INFINITY;
    for (const pending of this.#waiting) {
      const dueAt = pending.dueAt as number;
      if (pending.settled) {
        this.#waiting.delete(pending);
      } else if (dueAt > now) {
        next = Math.min(next, dueAt);
      } else {
        this.#waiting.delete(pending);
        pending.due = true;
        if (pending.batch) batches.add(pending.batch);
        // Too late to take it out of a plan; the batch is cancelled as soon as it is there.
        else if (!pending.planning) unsent.push(pending);
      }
    }
    if (unsent.length > 0) background('end requests at their deadline', this.end(unsent));
    for (const batch of batches) {
      this.cancelIfDue(batch);
      if (!batch.cancelling) tellThoseInCompany(batch, now);
    }
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
  }

  /** Cancels a batch once everyone who waits for it has run out of time. */
  cancelIfDue(batch: ActiveBatch): void {
    if (batch.cancelling || batch.collecting) return;
    if (!isUnwanted(batch) || !batch.isWaitedFor()) return;
    if (batch.remote === undefined) {
      endIfUnwanted(batch);
      // It may take hours to find out what became of it.
      if (batch.unclear) tell(batch);
      return;
    }
    batch.cancelling = true;
    if (batch.remote.state === 'ended') {
      // Only its results are late: nothing is left to cancel.
      tell(batch);
      return;
    }
    const cancelled = batch.batcher.cancel(batch.wire, batch.remote).catch((error: unknown) => {
      // The next poll tries again.
      batch.cancelling = false;
      throw error;
    });
    this.#workshop.background(`cancel batch ${batch.token} at its deadline`, cancelled);
  }

  /** Their time is up, and they are in no batch. */
  async end(requests: readonly PendingRequest[]): Promise<void> {
    const { ledger, owner } = this.#workshop;
    const realtime = requests.filter(({ scope }) => scope.onDeadline === 'realtime');
    const refused = requests.filter(({ scope }) => scope.onDeadline === 'error');
    this.#queues().withdraw(realtime);
    for (const pending of realtime) goRealtime(pending);
    for (const pending of refused) pending.queue.remove(pending);
    await refuse(ledger, owner, refused, ({ batcher }) =>
      ownAnswer(batcher, 'deadline', deadlineMessage),
    );
  }
}

/**
 * Others have time left, so the batch goes on. Who wants an error gets it now, unless the others' time
 * is as good as up, too: then the batch is cancelled in a moment, and finished answers are taken.
 */
function tellThoseInCompany(batch: ActiveBatch, now: number): void {
  const waiting = batch.waiting();
  const soon = now + batch.queue.policy.maxWindow;
  if (waiting.some(({ dueAt = Number.POSITIVE_INFINITY }) => dueAt > soon)) tell(batch);
}

/** The request stays in its batch, and its answer is kept for who asks again. */
function tell(batch: ActiveBatch): void {
  for (const pending of batch.waiting()) {
    if (!pending.due || pending.scope.onDeadline !== 'error') continue;
    deliver(pending, ownAnswer(pending.batcher, 'deadline', deadlineMessage), 'batch', batch.token);
  }
}

/** The call goes out by its own client's way; its request is nobody's any more. */
export function goRealtime(pending: PendingRequest): void {
  if (pending.settled) return;
  pending.settled = true;
  pending.queue.spool.letGo(pending);
  pending.call.settle({ realtime: true });
}
