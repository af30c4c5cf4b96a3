import { BatchlingError, messageOf, OwnerLostError } from '../../errors.ts';
import type { Admission, Ask, BatchId, RequestId } from '../../ledger/ledger.ts';
import { deliver, deliverOne } from '../collect/delivery.ts';
import type { ActiveBatch } from '../model/batch.ts';
import type { Workshop } from '../model/engine-context.ts';
import { inTurns } from '../model/in-turns.ts';
import { ownAnswer } from '../model/own-answer.ts';
import type { PendingRequest } from '../model/request.ts';
import { ElsewhereNotices } from './elsewhere-notices.ts';

const lookInterval = 200;
/** A dead owner writes nothing, so every so often we ask although nothing has changed. */
const looksBetweenAsks = 10;
const askAtOnce = 500;
/** How long the ledger may fail to say anything before those who wait are told. */
const patience = 10 * 60_000;

type End = (requests: readonly PendingRequest[]) => Promise<void>;
type Resume = (batch: BatchId, asker: PendingRequest) => Promise<ActiveBatch | undefined>;

/**
 * Requests that somebody else is sending or has sent: another process, or a run that died. Who is
 * alive is waited for; what a dead owner left is taken over.
 */
export class Neighbours {
  readonly #workshop: Workshop;
  readonly #resume: Resume;
  readonly #end: End;
  readonly #waiting = new Set<PendingRequest>();
  readonly #elsewhere = new ElsewhereNotices();
  readonly #resuming = new Map<BatchId, Promise<ActiveBatch | undefined>>();
  #timer: unknown;
  #seen = -1;
  #looks = 0;
  /** Since when every look has failed. */
  #blindSince: number | undefined;

  constructor(
    workshop: Workshop,
    resume: Resume,
    /** For a request that has become ours after its time was up. */
    end: End,
  ) {
    this.#workshop = workshop;
    this.#resume = resume;
    this.#end = end;
  }

  join(pending: PendingRequest, admission: Admission): void {
    this.#follow(pending, admission).catch((error: unknown) => tellTrouble(pending, error));
  }

  forget(pending: PendingRequest): void {
    this.#elsewhere.remove(pending);
    this.#waiting.delete(pending);
  }

  close(): void {
    this.#workshop.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
  }

  async #follow(pending: PendingRequest, admission: Admission): Promise<void> {
    if (pending.settled || pending.call.aborted) {
      if (admission.is === 'mine') this.#giveBack(admission.request);
      return;
    }
    // Its row may have been forgotten by another owner and made anew.
    pending.request = admission.request;
    pending.elsewhere = admission.is === 'wait';
    if (admission.is === 'mine') {
      pending.attempt = admission.attempt ?? 0;
      pending.owns = true;
      if (pending.due) await this.#end([pending]);
      else pending.queue.add(pending);
    } else if (admission.is === 'answered') {
      deliver(pending, admission.answer, 'ledger', admission.batchToken);
    } else {
      const batch =
        admission.batch === undefined ? undefined : await this.#find(admission.batch, pending);
      if (pending.settled || pending.call.aborted) return;
      if (batch && this.#attach(batch, pending)) return;
      if (admission.batch !== undefined) this.#elsewhere.add(pending);
      this.#waiting.add(pending);
      this.#arm();
    }
  }

  /** Ours by now, and nobody here wants it: others may. */
  #giveBack(request: RequestId): void {
    const { ledger, owner, background } = this.#workshop;
    background('give a request back', ledger.withdraw(owner, [request]));
  }

  #find(id: BatchId, pending: PendingRequest): Promise<ActiveBatch | undefined> {
    const active = this.#workshop.batches.get(id);
    if (active) return Promise.resolve(active);
    let resuming = this.#resuming.get(id);
    if (resuming === undefined) {
      resuming = this.#resume(id, pending).finally(() => this.#resuming.delete(id));
      this.#resuming.set(id, resuming);
    }
    return resuming;
  }

  /** False when the batch is over or that line has its outcome: the ledger knows, so ask there. */
  #attach(batch: ActiveBatch, pending: PendingRequest): boolean {
    if (this.#workshop.batches.get(batch.lease.batch) !== batch) return false;
    const member = batch.members.get(pending.id);
    if (member === undefined || member.settled) return false;
    batch.attach(pending);
    pending.elsewhere = false;
    if (batch.stuck) deliver(pending, batch.stuck, 'batch', batch.token);
    return true;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return;
    this.#timer = this.#workshop.clock.setTimeout(() => {
      this.#look().catch(async (error: unknown) => {
        this.#workshop.report('look for answers of other processes', error);
        const trouble = error instanceof OwnerLostError ? await this.#joinAgain() : error;
        if (trouble !== undefined && this.#isHopeless(trouble)) await this.#giveUp(trouble);
        this.#again();
      });
    }, lookInterval);
  }

  /** Then the next look asks again. Returns the error if joining failed. */
  #joinAgain(): Promise<unknown> {
    this.#seen = -1;
    return this.#workshop.joinAgain().catch((error: unknown) => error);
  }

  /** A bug of ours, or the ledger has been out of order for long. */
  #isHopeless(error: unknown): boolean {
    const now = this.#workshop.clock.now();
    this.#blindSince ??= now;
    const isUnknown = BatchlingError.isInstance(error) && error.code === 'INVARIANT';
    return isUnknown || now - this.#blindSince >= patience;
  }

  async #giveUp(error: unknown): Promise<void> {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    await inTurns(waiting, (pending) => tellTrouble(pending, error));
  }

  #again(): void {
    this.#timer = undefined;
    if (!this.#workshop.stopped.aborted) this.#arm();
  }

  async #look(): Promise<void> {
    this.#elsewhere.tell();
    const { ledger, owner } = this.#workshop;
    const changed = await ledger.changed();
    this.#looks += 1;
    if (changed !== this.#seen || this.#looks >= looksBetweenAsks) {
      this.#looks = 0;
      const waiting = [...this.#waiting];
      for (let at = 0; at < waiting.length; at += askAtOnce) {
        const asked = waiting.slice(at, at + askAtOnce);
        const admissions = await ledger.admit(owner, asked.map(askAgain));
        for (const pending of asked) this.forget(pending);
        admissions.forEach((admission, index) => {
          this.join(asked[index] as PendingRequest, admission);
        });
      }
      this.#seen = await ledger.changed();
    }
    this.#blindSince = undefined;
    this.#again();
  }
}

/** As everywhere: a rejected fetch would make every SDK try again. */
function tellTrouble(pending: PendingRequest, error: unknown): void {
  const message = messageOf(error);
  deliverOne(pending, ownAnswer(pending.batcher, 'store', message), 'ledger');
}

function askAgain(pending: PendingRequest): Ask {
  return {
    fingerprint: pending.fingerprint,
    occurrence: pending.occurrence,
    queue: pending.queue.id,
    cache: pending.scope.cache,
    waiting: true,
  };
}
