import { BatchlingError, messageOf } from '../../base/errors.ts';
import { inTurns } from '../../concurrency/event-loop.ts';
import type { Admission, Ask, BatchId, RequestId } from '../../ledger/ledger.ts';
import { deliver } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';
import type { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import { ElsewhereNotices } from './elsewhere-notices.ts';
import { tellSentAgain } from './tell-sent-again.ts';

const lookInterval = 200;
/** A dead owner writes nothing, so every so often we ask although nothing has changed. */
const looksBetweenAsks = 10;
const askAtOnce = 500;
/** How long the ledger may fail to say anything before the callers are told. */
const patience = 10 * 60_000;

type EndDue = (callers: readonly Caller[]) => Promise<void>;
type TakeOver = (batch: BatchId, asker: Request) => Promise<Batch | undefined>;

/**
 * Requests that another owner is sending or has sent: another process, or a run that died. A living owner
 * is waited for; the batches of a dead one are taken over.
 */
export class OtherOwners {
  readonly #context: EngineContext;
  readonly #takeOver: TakeOver;
  readonly #endDue: EndDue;
  /** The requests, with the batches that they are in as far as that is known. */
  readonly #waiting = new Map<Request, BatchId | undefined>();
  readonly #notices: ElsewhereNotices;
  readonly #takingOver = new Map<BatchId, Promise<Batch | undefined>>();
  #timer: unknown;
  #seen = -1;
  #looks = 0;
  /** When the looks began to fail, if the last one did. */
  #blindSince: number | undefined;

  constructor(
    context: EngineContext,
    takeOver: TakeOver,
    /** Ends a request that has become ours after its time was up. */
    endDue: EndDue,
  ) {
    this.#context = context;
    this.#takeOver = takeOver;
    this.#notices = new ElsewhereNotices(context.ledger.ownerLease);
    this.#endDue = endDue;
  }

  follow(request: Request, admission: Admission): void {
    this.#follow(request, admission).catch((error: unknown) => tellTrouble(request, error));
  }

  /** Nobody waits for it any more. */
  forget(request: Request): void {
    this.#notices.remove(request);
    this.#waiting.delete(request);
  }

  /** Another owner is here and has it; not while it is being found out whether there is one. */
  waitsFor(request: Request): boolean {
    return this.#waiting.has(request);
  }

  close(): void {
    this.#context.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#waiting.clear();
  }

  async #follow(request: Request, admission: Admission): Promise<void> {
    if (!request.isWaitedFor) {
      if (admission.is === 'mine') this.#giveBack(admission.request);
      return;
    }
    // Its row may have been forgotten by another owner and made anew.
    request.row = admission.request;
    if (admission.is === 'mine') {
      request.becomeOurs(admission.attempt ?? 0);
      if (admission.sent) tellSentAgain(request);
      if (request.isWanted) request.queue.add(request);
      else await this.#endDue(request.waiting);
    } else if (admission.is === 'answered') {
      deliver(request, admission.answer, 'ledger', admission.batchToken);
    } else {
      request.goElsewhere();
      const batch =
        admission.batch === undefined ? undefined : await this.#find(admission.batch, request);
      if (!request.isWaitedFor || (batch && this.#attach(batch, request))) return;
      if (admission.batch !== undefined) this.#notices.add(request);
      this.#waiting.set(request, admission.batch);
      this.#arm();
    }
  }

  /** Ours by now, and nobody here wants it: others may. */
  #giveBack(row: RequestId): void {
    const { ledger, owner, background } = this.#context;
    const given = owner.run((id) => ledger.withdraw(id, [row]));
    background('give a request back', given);
  }

  #find(id: BatchId, request: Request): Promise<Batch | undefined> {
    const active = this.#context.batches.get(id);
    if (active) return Promise.resolve(active);
    let takingOver = this.#takingOver.get(id);
    if (takingOver === undefined) {
      takingOver = this.#takeOver(id, request).finally(() => this.#takingOver.delete(id));
      this.#takingOver.set(id, takingOver);
    }
    return takingOver;
  }

  /** False when the batch is over or that line has its outcome: the ledger knows, so ask there. */
  #attach(batch: Batch, request: Request): boolean {
    if (this.#context.batches.get(batch.lease.batch) !== batch) return false;
    const member = batch.members.get(request.id);
    if (member === undefined || member.isSettled) return false;
    batch.attach(request, member);
    const { phase } = batch;
    const given = phase.name === 'over' ? phase.answer : undefined;
    if (given && member.request) deliver(member.request, given, 'batch', batch.token);
    return true;
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#waiting.size === 0) return;
    this.#timer = this.#context.clock.setTimeout(() => {
      this.#look().catch(async (error: unknown) => {
        this.#context.report('look for answers of other processes', error);
        if (this.#isHopeless(error)) await this.#giveUp(error);
        this.#again();
      });
    }, lookInterval);
  }

  /** A bug of ours, or the ledger has been out of order for long. */
  #isHopeless(error: unknown): boolean {
    const now = this.#context.clock.now();
    this.#blindSince ??= now;
    const isUnknown = BatchlingError.isInstance(error) && error.code === 'INVARIANT';
    return isUnknown || now - this.#blindSince >= patience;
  }

  async #giveUp(error: unknown): Promise<void> {
    const waiting = [...this.#waiting.keys()];
    this.#waiting.clear();
    await inTurns(waiting, (request) => tellTrouble(request, error));
  }

  #again(): void {
    this.#timer = undefined;
    if (!this.#context.stopped.aborted) this.#arm();
  }

  async #toAskAgain(): Promise<Request[]> {
    const waiting = [...this.#waiting];
    const waits = waiting.map(([{ row }, batch]) => {
      return { request: row, ...(batch !== undefined && { batch }) };
    });
    const named = new Set(await this.#context.ledger.toAskAgain(waits));
    return waiting.flatMap(([request]) => (named.has(request.row) ? request : []));
  }

  async #look(): Promise<void> {
    this.#notices.tell();
    const { ledger, owner } = this.#context;
    const changed = await ledger.changed();
    this.#looks += 1;
    if (changed !== this.#seen || this.#looks >= looksBetweenAsks) {
      this.#looks = 0;
      const waiting = await this.#toAskAgain();
      for (let at = 0; at < waiting.length; at += askAtOnce) {
        const asked = waiting.slice(at, at + askAtOnce);
        const asks = asked.map(askAgain);
        const admissions = await owner.run((id) => {
          for (const request of asked) request.owner = id;
          return ledger.admit(id, asks);
        });
        for (const request of asked) this.forget(request);
        admissions.forEach((admission, index) => {
          this.follow(asked[index] as Request, admission);
        });
      }
      // The number from before this look: a change during it may have come too late for it.
      this.#seen = changed;
    }
    this.#blindSince = undefined;
    this.#again();
  }
}

/** Answers with an error of ours: a rejected fetch would make every SDK try again. */
function tellTrouble(request: Request, error: unknown): void {
  deliver(request, ownAnswer(request.batcher, 'store', messageOf(error)), 'ledger');
}

function askAgain({ fingerprint, occurrence, queue, scope }: Request): Ask {
  return { fingerprint, occurrence, queue: queue.id, cache: scope.cache, waiting: true };
}
