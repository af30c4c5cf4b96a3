import { messageOf } from '../../base/errors.ts';
import { inTurns, nextTurn, Slice } from '../../concurrency/event-loop.ts';
import type { Admission, Ask } from '../../ledger/ledger.ts';
import { answerCall, deliver, refuseCall } from '../answer/delivery.ts';
import { factsOf } from '../events/events.ts';
import type { CapturedCall, Delivery } from '../model/call.ts';
import { Caller, type Departures } from '../model/caller.ts';
import type { EngineContext } from '../model/engine-context.ts';
import { Request } from '../model/request.ts';
import type { Queue } from '../queue/queue.ts';
import type { Queues } from '../queue/queues.ts';
import type { Deadlines } from '../watch/deadlines.ts';
import type { Account, Accounts } from './accounts.ts';
import { type ClientRetries, retriesApart } from './client-retries.ts';
import { fingerprintOfAccount } from './fingerprint.ts';
import { JoinedAnswers } from './joined-answers.ts';
import type { OccurrenceCount } from './occurrences.ts';
import { type Part, type Prepared, prepare, turnAway } from './prepare.ts';
import type { Spool } from './spool.ts';

/** The most rows of one ledger transaction. */
const admitAtOnce = 1_000;

interface IntakeServices {
  readonly accounts: Accounts;
  readonly queues: Queues;
  readonly spool: Spool;
  readonly clientRetries: ClientRetries;
  readonly deadlines: Deadlines;
  readonly departures: Departures;
  /** How often this run has asked each fingerprint; `undefined` when the ledger counts. */
  readonly occurrences: OccurrenceCount | undefined;
  /** Each account has answers of its own. */
  readonly accountsApart: boolean;
  /** Another owner, or another request of this process, stands for the same row. */
  follow(request: Request, admission: Admission): void;
}

interface PreparedCall extends Prepared {
  readonly caller: Caller;
}

/** A request and what the ledger is asked about it. */
interface Asked {
  readonly caller: Caller;
  readonly request: Request;
  readonly ask: Ask;
  readonly idempotencyKey: string | undefined;
  /** The request is remembered as abandoned already. */
  readonly isKnownAsAbandoned: boolean;
}

/**
 * The way in. Capturing a call only puts it here; parsing, hashing and asking the ledger happen later, in
 * slices.
 */
export class Intake {
  readonly #context: EngineContext;
  readonly #services: IntakeServices;
  #callers: Caller[] = [];
  #draining: Promise<void> | undefined;

  constructor(context: EngineContext, services: IntakeServices) {
    this.#context = context;
    this.#services = services;
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
        await nextTurn();
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
        prepared.push({ ...ready, caller });
        rows += ready.parts.length;
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
      // Nothing was sent, so nothing is lost; a rejected fetch would make every SDK try again.
      const message = messageOf(error);
      for (const { caller, parts } of calls) {
        const { call } = caller;
        refuseCall(call, factsOf(call.target.batcher, parts[0].route), 'store', message);
      }
    }
  }

  async #admit(prepared: readonly PreparedCall[], asked: Asked[]): Promise<void> {
    const slice = new Slice();
    for (const one of prepared) {
      if (slice.isOver) await slice.next();
      await this.#askFor(one, asked);
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
    await slice.next();
    for (const [
      index,
      { caller, request, idempotencyKey, isKnownAsAbandoned },
    ] of asked.entries()) {
      if (slice.isOver) await slice.next();
      request.admitted(admissions[index] as Admission, admittedBy);
      clientRetries.named(request.key, idempotencyKey, request.occurrence);
      // One may have been given up since: until it has its row, only the call is marked.
      if (caller.isAbandoned && !isKnownAsAbandoned) clientRetries.gaveUp(caller, request);
    }
    await this.#hold(asked, admissions);
    await inTurns(admissions, (admission, index) => {
      const { caller, request } = asked[index] as Asked;
      deadlines.add(caller);
      if (admission.is === 'mine') request.becomeOurs(admission.attempt ?? 0);
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

  async #askFor({ caller, headers, parts, join }: PreparedCall, asked: Asked[]): Promise<void> {
    const { accounts, queues, clientRetries, departures } = this.#services;
    const { call } = caller;
    const { batcher, wireBase } = call.target;
    const account =
      accounts.known(headers, wireBase) ?? (await accounts.open(headers, batcher, wireBase));
    if (account.unserved !== undefined) {
      call.settle({ bypass: account.unserved });
      return;
    }
    const callers = join ? parts.map(() => new Caller(call, departures)) : [caller];
    const found: { part: Part; queue: Queue; key: string }[] = [];
    const own = this.#partsOf(call, parts, account);
    const { expected } = call.sampling ?? {};
    if (expected && !own[0]?.fingerprint.equals(expected)) {
      turnAway(call, 'unsupported', 'It is asked for with other headers than it was asked with.');
      return;
    }
    for (const part of own) {
      const { route } = part;
      const queue = queues.known(call, route, account) ?? (await queues.open(call, route, account));
      found.push({ part, queue, key: part.fingerprint.toString('latin1') });
    }
    // All of them before the first is asked for: a part of a call that is over must not be sent.
    for (const { queue, key } of found) {
      const again = clientRetries.verdict(queue, key, call.scope);
      if (again) {
        if ('answer' in again) tellAgain(queue, call, again);
        else call.settle(again);
        return;
      }
    }
    for (const [index, { part, queue, key }] of found.entries()) {
      asked.push(this.#ask(callers[index] as Caller, part, queue, key));
    }
    if (join) new JoinedAnswers(caller, callers, join);
    call.taken(found.some(({ queue }) => queue.mayBeUnserved));
  }

  #partsOf({ sampling }: CapturedCall, parts: readonly Part[], { hash }: Account): readonly Part[] {
    if (!this.#services.accountsApart) return parts;
    const apart = sampling?.fresh ? sampling.run : undefined;
    return parts.map((part) => ({
      ...part,
      fingerprint: fingerprintOfAccount(part.fingerprint, hash, apart),
    }));
  }

  #ask(caller: Caller, { route, fingerprint, expects }: Part, queue: Queue, key: string): Asked {
    const { clientRetries, occurrences } = this.#services;
    const { call } = caller;
    const known = call.sampling?.occurrence ?? clientRetries.occurrence(key, call);
    if (known !== undefined) occurrences?.begun?.(key, known);
    const occurrence = known ?? occurrences?.next(key, call.sampling) ?? ('next' as const);
    const idempotencyKey = call.headers['idempotency-key'];
    const request = new Request(queue, key, route.body, expects, caller);
    if (route.units !== undefined) queue.units.set(request, route.units);
    caller.stream = route.stream;
    caller.isKeyed = idempotencyKey !== undefined;
    caller.dueAt = dueAt(call, this.#context.clock.now());
    const isKnownAsAbandoned = caller.isAbandoned && occurrence !== 'next';
    if (occurrence !== 'next') {
      // Another call with the same idempotency key may stand right behind it, and needs it.
      request.occurrence = occurrence;
      clientRetries.named(key, idempotencyKey, occurrence);
      // So may its own retry.
      if (isKnownAsAbandoned) clientRetries.gaveUp(caller, request);
    }
    const ask = { fingerprint, occurrence, queue: queue.id, cache: call.scope.cache };
    return { caller, request, ask, idempotencyKey, isKnownAsAbandoned };
  }

  /** Where bodies cannot be kept, the requests must not stay behind as ours to send. */
  async #hold(asked: readonly Asked[], admissions: readonly Admission[]): Promise<void> {
    const requestsThat = (fits: (is: Admission['is'] | undefined) => boolean) =>
      asked.flatMap(({ request }, index) => (fits(admissions[index]?.is) ? request : []));
    try {
      const { spool } = this.#services;
      await spool.share(asked, admissions);
      await spool.hold(requestsThat((is) => is !== 'answered'));
      for (const { caller } of asked) caller.call.sampling?.spooled?.();
    } catch (error) {
      this.#services.queues.withdraw(requestsThat((is) => is === 'mine'));
      throw error;
    }
  }
}

function dueAt({ scope: { deadline } }: CapturedCall, now: number): number | undefined {
  return deadline instanceof Date ? deadline.getTime() : deadline && now + deadline;
}

/** No request stands behind it, but a call is answered. */
function tellAgain(queue: Queue, call: CapturedCall, again: Delivery): void {
  const { answer, source } = again;
  const event = { ...factsOf(queue.batcher, queue), status: answer.status, source };
  answerCall(call, event, again);
}
