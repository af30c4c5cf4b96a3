import type { Clock } from '../../base/types.ts';
import type { Ask } from '../../ledger/ledger.ts';
import { answerCall } from '../answer/delivery.ts';
import { factsOf } from '../events/events.ts';
import type { CapturedCall, Delivery } from '../model/call.ts';
import { Caller, type Departures } from '../model/caller.ts';
import { Request } from '../model/request.ts';
import type { Queue } from '../queue/queue.ts';
import type { Queues } from '../queue/queues.ts';
import type { Account, Accounts } from './accounts.ts';
import type { ClientRetries } from './client-retries.ts';
import { bytesOf, fingerprintOfAccount } from './fingerprint.ts';
import { JoinedAnswers } from './joined-answers.ts';
import type { OccurrenceCount } from './occurrences.ts';
import { type Part, type Prepared, turnAway } from './prepare.ts';

export interface AskServices {
  readonly accounts: Accounts;
  readonly queues: Queues;
  readonly clientRetries: ClientRetries;
  readonly departures: Departures;
  /** How often this run has asked each fingerprint; `undefined` when the ledger counts. */
  readonly occurrences: OccurrenceCount | undefined;
  /** Each account has answers of its own. */
  readonly accountsApart: boolean;
}

export interface PreparedCall extends Prepared {
  readonly caller: Caller;
}

/** A request and what the ledger is asked about it. */
export interface Asked {
  readonly caller: Caller;
  readonly request: Request;
  readonly ask: Ask;
  readonly idempotencyKey: string | undefined;
  /** The request is remembered as abandoned already. */
  readonly isKnownAsAbandoned: boolean;
}

/** Finds account, queue and occurrence of a prepared call, and with them what the ledger is asked. */
export class Asks {
  readonly #clock: Clock;
  readonly #services: AskServices;

  constructor(clock: Clock, services: AskServices) {
    this.#clock = clock;
    this.#services = services;
  }

  /**
   * Adds what the ledger is asked for a call, unless the call has its verdict already. `false`: its account or a queue
   * of it has to be opened first. Nearly every call finds both open, and is added without waiting.
   */
  add({ caller, headers, parts, join }: PreparedCall, asked: Asked[]): boolean {
    const { accounts, departures } = this.#services;
    const { call } = caller;
    const account = accounts.known(headers, call.target.wireBase);
    if (account === undefined) return false;
    if (account.unserved !== undefined && !call.scope.mayGoUnbatched) {
      call.settle({ bypass: account.unserved });
      return true;
    }
    const own = this.#partsOf(call, parts, account);
    const { expected } = call.sampling ?? {};
    if (expected && own[0]?.key !== expected.toString('latin1')) {
      turnAway(call, 'unsupported', 'It is asked for with other headers than it was asked with.');
      return true;
    }
    const queues = this.#queuesOf(call, own, account);
    if (queues === undefined) return false;
    if (!call.sampling?.isLine && this.#isOver(call, own, queues)) return true;
    const callers = join ? parts.map(() => new Caller(call, departures)) : [caller];
    for (let index = 0; index < own.length; index += 1) {
      const queue = queues[index] as Queue;
      const one = callers[index] as Caller;
      if (call.scope.mayCall || queue.mayBeUnserved) one.headers = headers.rest;
      asked.push(this.#ask(one, own[index] as Part, queue));
    }
    if (join) new JoinedAnswers(caller, callers, join);
    call.taken();
    return true;
  }

  /** Opens the account and the queues of a call. */
  async open({ caller, headers, parts }: PreparedCall): Promise<void> {
    const { accounts, queues } = this.#services;
    const { call } = caller;
    const { batcher, wireBase } = call.target;
    const account = await accounts.open(headers, batcher, wireBase);
    if (account.unserved !== undefined && !call.scope.mayGoUnbatched) return;
    for (const { route } of parts) {
      if (!queues.known(call, route, account)) await queues.open(call, route, account);
    }
  }

  #partsOf({ sampling }: CapturedCall, parts: readonly Part[], { hash }: Account): readonly Part[] {
    if (!this.#services.accountsApart) return parts;
    const apart = sampling?.fresh ? sampling.run : undefined;
    return parts.map((part) => ({ ...part, key: fingerprintOfAccount(part.key, hash, apart) }));
  }

  /** `undefined`: one of them is not open yet. */
  #queuesOf(call: CapturedCall, parts: readonly Part[], account: Account): Queue[] | undefined {
    const found: Queue[] = [];
    for (const { route } of parts) {
      const queue = this.#services.queues.known(call, route, account);
      if (queue === undefined) return undefined;
      found.push(queue);
    }
    return found;
  }

  /** All parts are looked at before the first is asked for: a part of a call that is over must not be sent. */
  #isOver(call: CapturedCall, parts: readonly Part[], queues: readonly Queue[]): boolean {
    for (let index = 0; index < parts.length; index += 1) {
      const queue = queues[index] as Queue;
      const again = this.#services.clientRetries.verdict(
        queue,
        (parts[index] as Part).key,
        call.scope,
      );
      if (again === undefined) continue;
      if ('answer' in again) tellAgain(queue, call, again);
      else call.settle(again);
      return true;
    }
    return false;
  }

  #ask(caller: Caller, { route, key, expects }: Part, queue: Queue): Asked {
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
    caller.dueAt = dueAt(call, this.#clock.now());
    const isKnownAsAbandoned = caller.isAbandoned && occurrence !== 'next';
    if (occurrence !== 'next') {
      // Another call with the same idempotency key may stand right behind it, and needs the occurrence.
      request.occurrence = occurrence;
      clientRetries.named(key, idempotencyKey, occurrence);
      // Its own retry may stand right behind it, too, and must find the request that it re-joins.
      if (isKnownAsAbandoned) clientRetries.gaveUp(caller, request);
    }
    // A gateway keeps the runs of its clients apart by their fingerprints.
    const isFresh = call.sampling?.fresh === true && !this.#services.accountsApart;
    const cache = call.scope.cache && !isFresh;
    const asked = { fingerprint: bytesOf(key), occurrence, queue: queue.id, cache };
    const ask = call.sampling?.isBack ? { ...asked, waiting: true, returning: true } : asked;
    return { caller, request, ask, idempotencyKey, isKnownAsAbandoned };
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
