import { inTurns } from '../../concurrency/event-loop.ts';
import { KeepAlive } from '../../concurrency/keep-alive.ts';
import { deliverOne } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import type { Batch } from '../model/batch.ts';
import type { Caller, Departures } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import { endIfUnwanted } from '../model/unwanted.ts';
import type { Queues } from '../queue/queues.ts';
import type { OtherOwners } from '../takeover/other-owners.ts';
import { cancelWhereverItIs } from '../watch/cancel-batch.ts';

/** What becomes of requests whose callers leave, and of their batches. */
export class EngineDepartures implements Departures {
  readonly #context: EngineContext;
  readonly #queues: Queues;
  readonly #otherOwners: OtherOwners;
  readonly #cancelCall: (request: Request) => void;
  readonly #keepAlive = new KeepAlive();
  /** Batches that callers have left in this turn. */
  readonly #left = new Set<Batch>();

  constructor(
    context: EngineContext,
    queues: Queues,
    otherOwners: OtherOwners,
    /** Ends an ordinary call that is on the wire. */
    cancelCall: (request: Request) => void,
  ) {
    this.#context = context;
    this.#queues = queues;
    this.#otherOwners = otherOwners;
    this.#cancelCall = cancelCall;
  }

  callerLeft(request: Request): void {
    if (request.batch) this.#lookWhoWants(request.batch);
    if (request.isWaitedFor) return;
    this.#otherOwners.forget(request);
    if (request.stage === 'elsewhere') request.end();
    this.#queues.leave(request);
  }

  isWithOther(request: Request): boolean {
    return this.#otherOwners.waitsFor(request);
  }

  /** Ends calls with an answer of ours, and cancels their batches at the provider. */
  async cancel(callers: readonly Caller[], message: string): Promise<void> {
    const batches = new Set<Batch>();
    const all = callers.flatMap((caller) => caller.parts ?? [caller]);
    // Callers that have the head of a stream wait no longer, and their calls are on the wire.
    for (const { isSettled, request } of all) {
      if (isSettled && request?.isWaitedFor === false) this.#cancelCall(request);
    }
    // Telling one part of a call drops the others.
    const open = all.filter(({ isSettled }) => !isSettled);
    await inTurns(open, (caller) => {
      const { request } = caller;
      if (request?.batch) batches.add(request.batch);
      if (request === undefined || caller.isSettled) return;
      const answer = ownAnswer(request.batcher, 'cancelled', message);
      // This caller alone is told: another scope may wait for the same request.
      deliverOne(caller, request, answer, 'batch', request.batch?.token);
      this.callerLeft(request);
      if (!request.isWaitedFor) this.#cancelCall(request);
    });
    // The callers are told, so nothing else may keep the program up until the provider is, too.
    this.#keepAlive.hold();
    try {
      await Promise.all([...batches].map((batch) => cancelWhereverItIs(this.#context, batch)));
    } finally {
      this.#keepAlive.release();
    }
  }

  /** Looks once for all callers that leave in the same turn. */
  #lookWhoWants(batch: Batch): void {
    if (this.#left.size === 0) {
      setImmediate(() => {
        for (const one of this.#left) endIfUnwanted(one);
        this.#left.clear();
      });
    }
    this.#left.add(batch);
  }
}
