import { inTurns } from '../../concurrency/event-loop.ts';
import { KeepAlive } from '../../concurrency/keep-alive.ts';
import { deliverOne } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';
import type { CallControl, Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import { endIfUnwanted } from '../model/unsent.ts';
import type { Queues } from '../queue/queues.ts';
import type { OtherOwners } from '../takeover/other-owners.ts';
import { cancelWhereverItIs } from '../watch/cancel.ts';
import type { ClientRetries } from './client-retries.ts';
import type { OccurrenceCount } from './occurrences.ts';

interface ControlServices {
  readonly queues: Queues;
  readonly clientRetries: ClientRetries;
  readonly occurrences: OccurrenceCount | undefined;
  readonly otherOwners: OtherOwners;
}

/** Where scopes say that a call is not wanted any more, and how. */
export class EngineCallControl implements CallControl {
  readonly #context: EngineContext;
  readonly #services: ControlServices;
  readonly #keepAlive = new KeepAlive();
  /** Batches that callers have left in this turn. */
  readonly #left = new Set<Batch>();

  constructor(context: EngineContext, services: ControlServices) {
    this.#context = context;
    this.#services = services;
  }

  abort(caller: Caller): void {
    const { request } = caller;
    if (request === undefined || !request.settle(caller)) return;
    this.#giveOccurrenceBack(caller, request);
    this.#callerLeft(request);
    if (request.batch) this.#lookWhoWants(request.batch);
  }

  abandon(caller: Caller): void {
    const { request } = caller;
    // Still on its way in: the intake sees the mark on the call.
    if (request === undefined || caller.isSettled || request.row === 0) return;
    this.#services.clientRetries.abandoned.add(caller, request.key, request.occurrence);
  }

  read(caller: Caller): void {
    this.#services.clientRetries.abandoned.read(caller);
  }

  leaveBehind(caller: Caller): void {
    const { request } = caller;
    if (request === undefined || caller.isSettled) return;
    this.#giveOccurrenceBack(caller, request);
    caller.isLeftBehind = true;
  }

  isSubmitted(request: Request): boolean {
    if (request.stage === 'elsewhere') return this.#services.otherOwners.waitsFor(request);
    return request.batch?.isUnderWay === true;
  }

  /** Ends calls with an answer of ours, and cancels their batches at the provider. */
  async cancel(callers: readonly Caller[], message: string): Promise<void> {
    const batches = new Set<Batch>();
    const all = callers.flatMap((caller) => caller.parts ?? [caller]);
    // Telling one part of a call drops the others.
    const open = all.filter(({ isSettled }) => !isSettled);
    await inTurns(open, (caller) => {
      const { request } = caller;
      if (request?.batch) batches.add(request.batch);
      if (request === undefined || caller.isSettled) return;
      const answer = ownAnswer(request.batcher, 'cancelled', message);
      // To this caller alone: another scope may wait for the same request.
      deliverOne(caller, request, answer, 'batch', request.batch?.token);
      this.#callerLeft(request);
    });
    // The callers are told, so nothing else may keep the program up until the provider is, too.
    this.#keepAlive.hold();
    try {
      await Promise.all([...batches].map((batch) => cancelWhereverItIs(this.#context, batch)));
    } finally {
      this.#keepAlive.release();
    }
  }

  #callerLeft(request: Request): void {
    if (request.isWaitedFor) return;
    this.#services.otherOwners.forget(request);
    this.#services.queues.leave(request);
  }

  /** Once for all callers who leave in the same turn. */
  #lookWhoWants(batch: Batch): void {
    if (this.#left.size === 0) {
      setImmediate(() => {
        for (const one of this.#left) endIfUnwanted(one);
        this.#left.clear();
      });
    }
    this.#left.add(batch);
  }

  /** It stays in its batch: who asks the same next gets that answer, and pays for no other one. */
  #giveOccurrenceBack(caller: Caller, request: Request): void {
    // Where others may have a right to it already, the next one gets another sample.
    if (!request.isPlanned || caller.isAbandoned || caller.isKeyed) return;
    if (request.waiting.some((other) => other !== caller)) return;
    const { key, occurrence } = request;
    this.#services.occurrences?.giveBack(key, occurrence, caller.call.sampling);
  }
}
