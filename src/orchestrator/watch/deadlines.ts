import { longestTimer } from '../../base/duration.ts';
import { inTurns } from '../../concurrency/event-loop.ts';
import { deadlineAnswer, endAtDeadline, refuseRequests } from '../answer/delivery.ts';
import type { Batch } from '../model/batch.ts';
import type { OrdinaryLane } from '../model/call.ts';
import type { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import { endIfUnwanted } from '../model/unwanted.ts';
import { cancelIfAskedFor } from './cancel-batch.ts';
import { isKeptFromCancel, warnOfLoss } from './lossy-cancel.ts';

/** Fewer callers are not worth a look at which of them are answered. */
const fewest = 1_000;

/** Whatever a provider does, a caller that wants an error hears of it so long after its deadline. */
const cancelPatience = 10 * 60_000;

interface DeadlineServices {
  withdraw(requests: readonly Request[]): void;
  /** Sends a request as an ordinary call. */
  sendOrdinary(request: Request, lane: OrdinaryLane): void;
}

/**
 * The user's `deadline`: the moment we start to cancel. What is not sent yet ends at once. What is under
 * way is cancelled at the provider, and nothing is sent again before that batch has ended: finished
 * answers are taken, and only the rest gets an error or goes out as an ordinary call. A caller that wants
 * an error does not wait for the end of a batch that never ends: an error sends nothing again. A batch whose
 * finished answers a cancel would lose goes on for the next run, unless its scopes ask for the cancel.
 */
export class Deadlines {
  readonly #context: EngineContext;
  readonly #services: DeadlineServices;
  readonly #waiting = new Set<Caller>();
  /** Callers whose batch is being cancelled, and until when they wait for its answers. */
  readonly #late = new Map<Caller, number>();
  #timer: unknown;
  #armedFor = Number.POSITIVE_INFINITY;
  #sweepAt = fewest;
  /** Nobody's time has been up yet: no batch has to be looked through for such a caller. */
  #allInTime = true;

  constructor(context: EngineContext, services: DeadlineServices) {
    this.#context = context;
    this.#services = services;
  }

  add(caller: Caller): void {
    if (caller.dueAt === undefined) return;
    this.#waiting.add(caller);
    if (this.#waiting.size > this.#sweepAt) this.#sweep();
    this.#arm(caller.dueAt);
  }

  close(): void {
    this.#context.clock.clearTimeout(this.#timer);
    this.#waiting.clear();
    this.#late.clear();
  }

  /** A run of millions must not keep every answered call until its deadline. */
  #sweep(): void {
    for (const caller of this.#waiting) if (caller.isSettled) this.#waiting.delete(caller);
    this.#sweepAt = Math.max(fewest, this.#waiting.size * 2);
  }

  #arm(at: number): void {
    if (at >= this.#armedFor) return;
    const { clock } = this.#context;
    clock.clearTimeout(this.#timer);
    this.#armedFor = at;
    const wait = Math.min(Math.max(0, at - clock.now()), longestTimer);
    this.#timer = clock.setTimeout(() => this.#look(), wait);
  }

  #look(): void {
    const { clock, background } = this.#context;
    this.#armedFor = Number.POSITIVE_INFINITY;
    const now = clock.now();
    const unsent: Caller[] = [];
    const batches = new Set<Batch>();
    const { next: nextLate, told } = this.#takeTheLate(now);
    let next = nextLate;
    for (const caller of this.#waiting) {
      const dueAt = caller.dueAt as number;
      if (caller.isSettled) {
        this.#waiting.delete(caller);
      } else if (dueAt > now) {
        next = Math.min(next, dueAt);
      } else {
        this.#waiting.delete(caller);
        caller.isDue = true;
        this.#allInTime = false;
        const { batch, isCommitted, stage } = caller.request as Request;
        if (batch) batches.add(batch);
        // Too late to take it out of a plan; the batch is cancelled as soon as the provider has it.
        if (!isCommitted) {
          unsent.push(caller);
        } else if (caller.scope.onDeadline === 'error' && stage === 'sending') {
          // There is nothing to cancel: the call goes on, and its answer is kept.
          told.push(caller);
        } else if (caller.scope.onDeadline === 'error') {
          this.#late.set(caller, now + cancelPatience);
          next = Math.min(next, now + cancelPatience);
        }
      }
    }
    // The batch of some may have been taken apart meanwhile.
    for (const caller of told) if (!caller.request?.isCommitted) unsent.push(caller);
    if (unsent.length > 0) background('end requests at their deadline', this.end(unsent));
    if (told.length > 0) background('tell callers of their deadline', inTurns(told, endIfPlanned));
    for (const batch of batches) this.cancelIfDue(batch);
    if (next < Number.POSITIVE_INFINITY) this.#arm(next);
  }

  /** Callers that have waited long enough, and when the next of the others will have. */
  #takeTheLate(now: number): { next: number; told: Caller[] } {
    let next = Number.POSITIVE_INFINITY;
    const told: Caller[] = [];
    for (const [caller, until] of this.#late) {
      if (until > now && !caller.isSettled) {
        next = Math.min(next, until);
        continue;
      }
      this.#late.delete(caller);
      if (!caller.isSettled) told.push(caller);
    }
    return { next, told };
  }

  /** Cancels a batch once the time of all its callers is up. */
  cancelIfDue(batch: Batch): void {
    if (this.#allInTime || !batch.isWaitedFor(({ isDue }) => isDue)) return;
    const { phase } = batch;
    if (batch.isWanted) {
      tellThoseInCompany(batch, this.#context.clock.now());
    } else if (phase.name === 'running' && phase.remote.state !== 'ended') {
      if (isKeptFromCancel(batch)) {
        tellDue(batch);
        return;
      }
      if (!batch.cancellation.isOurs) warnOfLoss(this.#context, batch, 'at its deadline');
      batch.cancellation.askFor();
      cancelIfAskedFor(this.#context, batch);
    } else {
      endIfUnwanted(batch);
      // It may take hours to find out what became of its create, or until its results can be read.
      const { name } = phase;
      const isLong =
        name === 'collecting' ? phase.isUnreadable : name === 'looking' || name === 'running';
      if (isLong) tellDue(batch);
    }
  }

  /** Ends what is not sent of these requests and has only callers whose time is up. Nobody waits for that: the others must go on. */
  endDueOf(requests: readonly Request[]): void {
    if (this.#allInTime) return;
    const due = requests
      .filter((request) => !request.isWanted && !request.isCommitted)
      .flatMap(({ waiting }) => waiting);
    if (due.length === 0) return;
    this.#context.background('end requests at their deadline', this.end(due));
  }

  /** Ends callers whose time is up and whose requests are in no batch. */
  async end(callers: readonly Caller[]): Promise<void> {
    const last = new Set<Request>();
    const each: Caller[] = [];
    for (const caller of callers) {
      const request = caller.request as Request;
      const { stage, isUnsent, isWanted } = request;
      // Whoever sends it pays for it: an ordinary call would be the second.
      if (stage === 'elsewhere' && caller.scope.onDeadline !== 'error') continue;
      if (isUnsent && !isWanted) last.add(request);
      // It gets the answer that the others of its request wait for.
      else if (caller.scope.onDeadline !== 'flex') each.push(caller);
    }
    const withdrawn: Request[] = [];
    const refused: Request[] = [];
    for (const request of last) {
      const { queue, waiting } = request;
      const lane = lateLane(request);
      if (lane !== undefined) {
        queue.remove(request);
        request.goLate();
        this.#services.sendOrdinary(request, lane);
        continue;
      }
      const isRealtime = waiting.some(({ scope }) => scope.onDeadline === 'realtime');
      if (isRealtime) {
        withdrawn.push(request);
        each.push(...waiting);
      } else {
        queue.remove(request);
        refused.push(request);
      }
    }
    this.#services.withdraw(withdrawn);
    await Promise.all([
      inTurns(each, (caller) => endAtDeadline(caller, caller.request as Request)),
      refuseRequests(this.#context, refused, deadlineAnswer),
    ]);
  }
}

/** The lane in which a request goes on after its deadline, as a call of ours. */
function lateLane({ queue, scope, isLate }: Request): OrdinaryLane | undefined {
  if (isLate) return 'realtime';
  if (scope.onDeadline === 'error') return undefined;
  // Calls that found no room in the flex lane do so now in the other one.
  if (queue.lane !== 'batch') return 'realtime';
  // What the client has signed is no good any more.
  if (scope.onDeadline === 'realtime' && queue.account.isSigned) return 'realtime';
  return scope.onDeadline === 'flex' ? 'flex' : undefined;
}

/** A caller in no batch any more has gone back to its queue, and is told on its way out of that. */
function endIfPlanned(caller: Caller): void {
  const request = caller.request as Request;
  if (request.isCommitted) endAtDeadline(caller, request);
}

/**
 * Others have time left, so the batch goes on. A caller that wants an error gets it now, unless the time
 * of the others is as good as up, too: then the batch is cancelled in a moment, and finished answers are
 * taken.
 */
function tellThoseInCompany(batch: Batch, now: number): void {
  const soon = now + batch.queue.policy.maxWindow;
  const isLater = ({ dueAt = Number.POSITIVE_INFINITY }: Caller) => dueAt > soon;
  if (batch.isWaitedFor(isLater)) tellDue(batch);
}

/** The requests stay in their batch, and their answers are kept for calls that ask again. */
function tellDue(batch: Batch): void {
  for (const caller of batch.waiting()) {
    if (!caller.isDue || caller.scope.onDeadline !== 'error') continue;
    endAtDeadline(caller, caller.request as Request);
  }
}
