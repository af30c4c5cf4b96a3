import { setTimeout } from 'node:timers/promises';
import { invariant, messageOf } from '../../base/errors.ts';
import { inTurns, nextTurn, Slice } from '../../concurrency/event-loop.ts';
import type { Admission } from '../../ledger/ledger.ts';
import { deliver, refuseCall } from '../answer/delivery.ts';
import { factsOf, inLane } from '../events/events.ts';
import type { CapturedCall } from '../model/call.ts';
import { Caller } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import { tellSentAgain } from '../takeover/tell-sent-again.ts';
import type { Deadlines } from '../watch/deadlines.ts';
import { type Asked, type AskServices, Asks, type PreparedCall } from './asks.ts';
import { retriesApart } from './client-retries.ts';
import { prepare } from './prepare.ts';
import type { Spool } from './spool.ts';

/** The most rows of one ledger transaction. */
const admitAtOnce = 1_000;
/**
 * Calls of a gateway come one by one, and with a transaction for each they would cost 40 % more. While new ones come,
 * which wait for minutes, calls gather for so many milliseconds.
 */
const gatherTime = 10;

interface IntakeServices extends AskServices {
  readonly spool: Spool;
  readonly deadlines: Deadlines;
  /** Another owner, or another request of this process, stands for the same row. */
  follow(request: Request, admission: Admission): void;
}

/**
 * The way in. Capturing a call only puts it here; parsing, hashing and asking the ledger happen later, in
 * slices.
 */
export class Intake {
  readonly #context: EngineContext;
  readonly #services: IntakeServices;
  readonly #asks: Asks;
  #callers: Caller[] = [];
  #draining: Promise<void> | undefined;
  /** The last transaction has admitted a new request of a gateway. */
  #gathers = false;

  constructor(context: EngineContext, services: IntakeServices) {
    this.#context = context;
    this.#services = services;
    this.#asks = new Asks(context.clock, services);
  }

  push(call: CapturedCall): Caller {
    const caller = new Caller(call, this.#services.departures);
    this.#callers.push(caller);
    this.#draining ??= this.#drain();
    return caller;
  }

  /** Resolves when everything captured so far is in a queue, answered or passed on. */
  async drained(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#callers.length > 0) {
        await (this.#gathers ? setTimeout(gatherTime) : nextTurn());
        const callers = this.#callers;
        this.#callers = [];
        for (let at = 0; at < callers.length; ) at = await this.#group(callers, at);
      }
    } finally {
      this.#draining = undefined;
    }
  }

  /** Takes as many calls as fit one transaction; each costs a page or two, whatever it holds. */
  async #group(callers: readonly Caller[], from: number): Promise<number> {
    const prepared: PreparedCall[] = [];
    const slice = new Slice();
    let at = from;
    let rows = 0;
    while (at < callers.length && rows < admitAtOnce) {
      const caller = callers[at] as Caller;
      at += 1;
      const ready = caller.call.aborted ? undefined : prepare(caller.call);
      if (ready) {
        const { headers, parts, join } = ready;
        prepared.push({ headers, parts, join, caller });
        rows += parts.length;
      }
      if (slice.isOver) await slice.next();
    }
    // One that was aborted meanwhile is not asked for.
    const wanted = prepared.filter(({ caller }) => !caller.call.aborted);
    for (const calls of this.#services.occurrences ? [wanted] : retriesApart(wanted)) {
      await this.#admitOrRefuse(calls);
    }
    if (at < callers.length) await nextTurn();
    return at;
  }

  async #admitOrRefuse(calls: readonly PreparedCall[]): Promise<void> {
    const asked: Asked[] = [];
    try {
      await this.#admit(calls, asked);
    } catch (error) {
      const { occurrences } = this.#services;
      for (const { request } of asked) occurrences?.ended?.(request.key, request.occurrence);
      // The process leaves, and its ledger is closed already: these calls count as not sent.
      if (this.#context.stopped.aborted) return;
      // Nothing was sent, so nothing is lost; a rejected fetch would make every SDK try again.
      const message = messageOf(error);
      for (const { caller, parts } of calls) {
        const { call } = caller;
        const facts = factsOf(call.target.batcher, parts[0].route);
        refuseCall(call, inLane(facts, call.scope.policy.lane), 'store', message);
      }
    }
  }

  async #admit(prepared: readonly PreparedCall[], asked: Asked[]): Promise<void> {
    const slice = new Slice();
    for (const one of prepared) {
      if (slice.isOver) await slice.next();
      if (this.#asks.add(one, asked)) continue;
      await this.#asks.open(one);
      invariant(this.#asks.add(one, asked), 'A queue that was just opened is not found');
    }
    if (asked.length === 0) return;
    const { ledger, owner } = this.#context;
    const { clientRetries, deadlines, queues } = this.#services;
    await slice.next();
    const asks = asked.map(({ ask }) => ask);
    let admittedBy = owner.id;
    const admissions = await owner.run((id) => {
      admittedBy = id;
      return ledger.admit(id, asks);
    });
    this.#gathers = this.#services.accountsApart && admissions.some(({ is }) => is === 'mine');
    await slice.next();
    for (let index = 0; index < asked.length; index += 1) {
      if (slice.isOver) await slice.next();
      const { caller, request, idempotencyKey, isKnownAsAbandoned } = asked[index] as Asked;
      request.admitted(admissions[index] as Admission, admittedBy);
      clientRetries.named(request.key, idempotencyKey, request.occurrence);
      // One may have been given up since: until it has its row, only the call is marked.
      if (caller.isAbandoned && !isKnownAsAbandoned) clientRetries.gaveUp(caller, request);
    }
    await this.#hold(asked, admissions);
    await inTurns(admissions, (admission, index) => {
      const { caller, request } = asked[index] as Asked;
      if (caller.dueAt !== undefined) deadlines.add(caller);
      if (admission.is === 'mine') {
        request.becomeOurs(admission.attempt ?? 0);
        if (admission.sent) tellSentAgain(request);
      }
      // An abort that came before the request was made has found nobody to tell.
      if (caller.call.aborted) request.settle(caller);
      if (!request.isWaitedFor) {
        if (admission.is === 'mine') queues.leave(request);
        else request.end();
      } else if (admission.is === 'mine') request.queue.add(request);
      else if (admission.is === 'wait') this.#services.follow(request, admission);
      else deliver(request, admission.answer, 'ledger', admission.batchToken);
    });
  }

  /** Where bodies cannot be kept, the requests must not stay behind as ours to send. */
  async #hold(asked: readonly Asked[], admissions: readonly Admission[]): Promise<void> {
    const { spool, queues } = this.#services;
    try {
      await spool.share(asked, admissions);
      const open = asked.filter((_, index) => admissions[index]?.is !== 'answered');
      await spool.hold(open.map(({ request }) => request));
      for (const { caller } of asked) caller.call.sampling?.spooled?.();
    } catch (error) {
      const ours = asked.filter((_, index) => admissions[index]?.is === 'mine');
      queues.withdraw(ours.map(({ request }) => request));
      throw error;
    }
  }
}
