import type { Remote } from '../../batchers/batcher.ts';
import { longestTimer } from '../../http/backoff.ts';
import { deliverOne, refuse } from '../collect/delivery.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { inTurns } from '../model/in-turns.ts';
import { ownAnswer } from '../model/own-answer.ts';
import { type PendingRequest, standingFor } from '../model/request.ts';
import type { Queues } from '../queue/queues.ts';
import { endIfUnwanted, isUnwanted } from './unwanted.ts';

/** Fewer are not worth a look at which of them are answered. */
const fewest = 1_000;

/** Whatever a provider does, who wants an error hears of it so long after the deadline at the latest. */
const cancelPatience = 10 * 60_000;

const deadlineMessage = 'The deadline passed before the batch had an answer for this request.';

/**
 * The user's `deadline`: the moment we start to cancel. What is not sent yet ends at once. What is
 * under way is cancelled at the provider, and nothing is sent again before that batch has ended:
 * finished answers are taken, and only the rest gets an error or goes out as an ordinary call. Who
 * wants an error does not wait for the end of a batch that never ends: an error sends nothing again.
 */
export class Deadlines {
  readonly #workshop: Workshop;
  readonly #queues: () => Queues;
  readonly #waiting = new Set<PendingRequest>();
  /** Whose batch is being cancelled, and until when they wait for its answers. */
  readonly #late = new Map<PendingRequest, number>();
  #timer: unknown;
  #armedFor = Number.POSITIVE_INFINITY;
  #sweepAt = fewest;
  /** Nobody's time has been up yet: no batch has to be looked through for such a one. */
  #allInTime = true;

  constructor(workshop: Workshop, queues: () => Queues) {
    this.#workshop = workshop;
    this.#queues = queues;
  }

  add(pending: PendingRequest): void {
    if (pending.dueAt === undefined) return;
    this.#waiting.add(pending);
    if (this.#waiting.size > this.#sweepAt) this.#sweep();
    this.#arm(pending.dueAt);
  }

  close(): void {
    this.#workshop.clock.clearTimeout(this.#timer);
    this.#waiting.clear();
    this.#late.clear();
  }

  /** A run of millions must not keep every answered call until its deadline. */
  #sweep(): void {
    for (const pending of this.#waiting) if (pending.settled) this.#waiting.delete(pending);
    this.#sweepAt = Math.max(fewest, this.#waiting.size * 2);
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
    const { next: nextLate, told } = this.#takeTheLate(now);
    let next = nextLate;
    for (const pending of this.#waiting) {
      const dueAt = pending.dueAt as number;
      if (pending.settled) {
        this.#waiting.delete(pending);
      } else if (dueAt > now) {
        next = Math.min(next, dueAt);
      } else {
        this.#waiting.delete(pending);
        pending.due = true;
        this.#allInTime = false;
        if (pending.batch) batches.add(pending.batch);
        // Too late to take it out of a plan; the batch is cancelled as soon as it is there.
        if (!isPlanned(pending)) {
          unsent.push(pending);
        } else if (pending.scope.onDeadline === 'error') {
          this.#late.set(pending, now + cancelPatience);
          next = Math.min(next, now + cancelPatience);
        }
      }
    }
    // Whose batch has been taken apart meanwhile stands for its request alone.
    for (const pending of told) if (!isPlanned(pending)) unsent.push(pending);
    if (unsent.length > 0) background('end requests at their deadline', this.end(unsent));
    if (told.length > 0) background('tell callers of their deadline', inTurns(told, endIfPlanned));
    for (const batch of batches) this.cancelIfDue(batch);
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
  }

  /** Those who have waited long enough, and when the next of the others will have. */
  #takeTheLate(now: number): { next: number; told: PendingRequest[] } {
    let next = Number.POSITIVE_INFINITY;
    const told: PendingRequest[] = [];
    for (const [pending, until] of this.#late) {
      if (until > now && !pending.settled) {
        next = Math.min(next, until);
        continue;
      }
      this.#late.delete(pending);
      if (!pending.settled) told.push(pending);
    }
    return { next, told };
  }

  /** Cancels a batch once everyone who waits for it has run out of time. */
  cancelIfDue(batch: ActiveBatch): void {
    if (this.#allInTime || batch.cancelling || !batch.isWaitedFor(({ due }) => due)) return;
    if (!isUnwanted(batch)) {
      tellThoseInCompany(batch, this.#workshop.clock.now());
    } else if (batch.remote === undefined) {
      endIfUnwanted(batch);
      // It may take hours to find out what became of it.
      if (batch.unclear) tell(batch);
    } else if (batch.collecting || batch.remote.state === 'ended') {
      // Nothing is left to cancel; its results are late, or cannot be read.
      if (!batch.collecting || batch.lostSince.size > 0) tell(batch);
    } else {
      this.#cancel(batch, batch.remote);
    }
  }

  #cancel(batch: ActiveBatch, remote: Remote): void {
    batch.cancelling = true;
    const cancelled = batch.batcher.cancel(batch.wire, remote).catch((error: unknown) => {
      // The next poll tries again.
      batch.cancelling = false;
      throw error;
    });
    batch.cancellation = cancelled;
    this.#workshop.background(`cancel batch ${batch.token} at its deadline`, cancelled);
  }

  /** Their time is up, and they are in no batch. */
  async end(requests: readonly PendingRequest[]): Promise<void> {
    const { ledger, owner } = this.#workshop;
    const last = requests.filter((pending) => !handedOver(pending));
    const realtime = last.filter(({ scope }) => scope.onDeadline === 'realtime');
    const refused = last.filter(({ scope }) => scope.onDeadline === 'error');
    this.#queues().withdraw(realtime);
    for (const pending of refused) pending.queue.remove(pending);
    const answerFor = ({ batcher }: PendingRequest) =>
      ownAnswer(batcher, 'deadline', deadlineMessage);
    await Promise.all([inTurns(realtime, goRealtime), refuse(ledger, owner, refused, answerFor)]);
  }
}

/**
 * Ends it for this caller alone where the request is not its own, or others still want it. Who is to
 * send it as an ordinary call first waits for the outcome that somebody else is about to have.
 */
function handedOver(pending: PendingRequest): boolean {
  // Whoever sends it pays for it: an ordinary call would be the second.
  if (pending.elsewhere && pending.scope.onDeadline === 'realtime') return true;
  const others = pending.waiters().filter((other) => other !== pending && !other.due);
  if (pending.owns && others.length === 0) return false;
  pending.queue.remove(pending);
  const { owns } = pending;
  endAtDeadline(pending);
  const stands = owns ? standingFor(others) : undefined;
  stands?.queue.add(stands);
  return true;
}

function isPlanned({ batch, planning }: PendingRequest): boolean {
  return batch !== undefined || planning;
}

/** Who is in no batch any more has gone back to its queue, and is told on its way out of that. */
function endIfPlanned(pending: PendingRequest): void {
  if (isPlanned(pending)) endAtDeadline(pending);
}

/** As its scope wishes. */
export function endAtDeadline(pending: PendingRequest): void {
  if (pending.scope.onDeadline === 'realtime') goRealtime(pending);
  else deliverOne(pending, ownAnswer(pending.batcher, 'deadline', deadlineMessage), 'batch');
}

/**
 * Others have time left, so the batch goes on. Who wants an error gets it now, unless the others' time
 * is as good as up, too: then the batch is cancelled in a moment, and finished answers are taken.
 */
function tellThoseInCompany(batch: ActiveBatch, now: number): void {
  const soon = now + batch.queue.policy.maxWindow;
  const isLater = ({ dueAt = Number.POSITIVE_INFINITY }: PendingRequest) => dueAt > soon;
  if (batch.isWaitedFor(isLater)) tell(batch);
}

/** The request stays in its batch, and its answer is kept for who asks again. */
function tell(batch: ActiveBatch): void {
  for (const pending of batch.waiting()) {
    if (pending.due && pending.scope.onDeadline === 'error') endAtDeadline(pending);
  }
}

/** The call goes out by its own client's way; its request is nobody's any more. */
export function goRealtime(pending: PendingRequest): void {
  if (pending.settled) return;
  pending.settled = true;
  pending.queue.spool.letGo(pending);
  if (pending.call.abandoned) pending.queue.returning.abandoned.ended(pending.call);
  pending.call.settle({ realtime: pending.queue });
}
