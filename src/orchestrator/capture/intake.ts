import { setImmediate as immediate } from 'node:timers/promises';
import { messageOf } from '../../errors.ts';
import type { Admission, Ask } from '../../ledger/ledger.ts';
import { estimateTokens } from '../../pricing/token-estimate.ts';
import { answerCall, deliver, refuseCall } from '../collect/delivery.ts';
import type { Workshop } from '../model/engine-context.ts';
import { factsOf } from '../model/events.ts';
import { inTurns } from '../model/in-turns.ts';
import { type CapturedCall, type Delivery, PendingRequest } from '../model/request.ts';
import { Slice } from '../model/slice.ts';
import type { Queue } from '../queue/queue.ts';
import type { Queues } from '../queue/queues.ts';
import type { Deadlines } from '../watch/deadlines.ts';
import type { Returning } from './client-retries.ts';
import type { Occurrences } from './occurrences.ts';
import { type Prepared, prepare } from './prepare.ts';
import type { Spool } from './spool.ts';

/** At most so many rows in one ledger transaction. */
const admitAtOnce = 1_000;
/** More than these are admitted in a turn of their own. */
const admittedAtOnce = 50;

/**
 * The way in. Capturing a call only puts it here; parsing, hashing and asking the ledger happen
 * later, in slices.
 */
export class Intake {
  readonly #workshop: Workshop;
  readonly #queues: Queues;
  readonly #spool: Spool;
  readonly #returning: Returning;
  readonly #deadlines: Deadlines;
  readonly #join: (pending: PendingRequest, admission: Admission) => void;
  /** How often this run has asked each fingerprint; `undefined` when the ledger counts. */
  readonly #occurrences: Occurrences | undefined;
  #calls: CapturedCall[] = [];
  #draining: Promise<void> | undefined;

  constructor(
    workshop: Workshop,
    queues: Queues,
    spool: Spool,
    returning: Returning,
    deadlines: Deadlines,
    occurrences: Occurrences | undefined,
    join: (pending: PendingRequest, admission: Admission) => void,
  ) {
    this.#workshop = workshop;
    this.#queues = queues;
    this.#spool = spool;
    this.#returning = returning;
    this.#deadlines = deadlines;
    this.#join = join;
    this.#occurrences = occurrences;
  }

  push(call: CapturedCall): void {
    this.#calls.push(call);
    this.#draining ??= this.#drain();
  }

  /** Resolves when everything captured so far is in a queue, answered or passed on. */
  async drained(): Promise<void> {
    while (this.#draining) await this.#draining;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#calls.length > 0) {
        await immediate();
        const calls = this.#calls;
        this.#calls = [];
        for (let at = 0; at < calls.length; ) at = await this.#group(calls, at);
      }
    } finally {
      this.#draining = undefined;
    }
  }

  /** Takes as many calls as fit one transaction; each costs a page or two, whatever it holds. */
  async #group(calls: CapturedCall[], from: number): Promise<number> {
    const prepared: Prepared[] = [];
    const slice = new Slice();
    let at = from;
    while (at < calls.length && prepared.length < admitAtOnce) {
      const call = calls[at] as CapturedCall;
      at += 1;
      const ready = call.aborted ? undefined : prepare(call);
      if (ready) prepared.push(ready);
      if (slice.isOver) await slice.next();
    }
    if (prepared.length > admittedAtOnce) await immediate();
    // One that was aborted meanwhile is not asked for.
    const wanted = prepared.filter(({ call }) => !call.aborted);
    try {
      await this.#admit(wanted);
    } catch (error) {
      // Nothing was sent, so nothing is lost; a rejected fetch would make every SDK try again.
      const message = messageOf(error);
      for (const { call, parts } of wanted) {
        refuseCall(call, factsOf(call.target.batcher, parts[0].route), 'store', message);
      }
    }
    if (at < calls.length) await immediate();
    return at;
  }

  async #admit(prepared: readonly Prepared[]): Promise<void> {
    const now = this.#workshop.clock.now();
    const asks: Ask[] = [];
    const requests: PendingRequest[] = [];
    const idempotencyKeys: (string | undefined)[] = [];
    /** Those that are known to have been given up. */
    const known = new Set<CapturedCall>();
    const slice = new Slice();
    for (const one of prepared) {
      if (slice.isOver) await slice.next();
      const { call, headers } = one;
      const [{ route, fingerprint }] = one.parts;
      const queue =
        this.#queues.known(call, route, headers) ?? (await this.#queues.open(call, route, headers));
      const key = fingerprint.toString('latin1');
      const again = this.#returning.verdict(queue, key, call.scope);
      if (again) {
        if ('answer' in again) tellAgain(queue, call, again);
        else call.settle(again);
        continue;
      }
      const occurrence = this.#returning.occurrence(key, call) ?? this.#next(key);
      // Before its own retry, which may stand right behind it.
      if (call.abandoned && occurrence !== 'next') {
        this.#returning.abandoned.add(call, key, occurrence);
        known.add(call);
      }
      asks.push({
        fingerprint,
        occurrence,
        queue: queue.id,
        cache: call.scope.cache,
      });
      const pending = new PendingRequest(call, queue, route, key, now);
      const idempotencyKey = call.headers['idempotency-key'];
      if (occurrence !== 'next') {
        // Before another call with the same idempotency key, which may stand right behind it.
        pending.occurrence = occurrence;
        this.#returning.named(key, idempotencyKey, occurrence);
      }
      requests.push(pending);
      pending.keyed = idempotencyKey !== undefined;
      idempotencyKeys.push(idempotencyKey);
      call.pending = pending;
      call.taken();
    }
    const { ledger, owner } = this.#workshop;
    if (asks.length > admittedAtOnce) await slice.next();
    const admissions = await ledger.admit(owner, asks);
    await slice.next();
    for (const [index, pending] of requests.entries()) {
      if (slice.isOver) await slice.next();
      named(pending, admissions[index] as Admission);
      this.#returning.named(pending.key, idempotencyKeys[index], pending.occurrence);
      // Also one that was given up since: until it has its row, only the call is marked.
      if (pending.call.abandoned && !known.has(pending.call)) {
        this.#returning.abandoned.add(pending.call, pending.key, pending.occurrence);
      }
    }
    await this.#hold(requests, admissions);
    await inTurns(admissions, (admission, index) => {
      const pending = requests[index] as PendingRequest;
      this.#deadlines.add(pending);
      pending.owns = admission.is === 'mine';
      if (pending.call.aborted) this.#queues.leave(pending);
      else if (admission.is === 'mine') pending.queue.add(pending);
      else if (admission.is === 'wait') this.#join(pending, admission);
      else deliver(pending, admission.answer, 'ledger', admission.batchToken);
    });
  }

  /** Where bodies cannot be kept, the requests must not stay behind as ours to send. */
  async #hold(
    requests: readonly PendingRequest[],
    admissions: readonly Admission[],
  ): Promise<void> {
    try {
      await this.#spool.hold(requests.filter((_, index) => admissions[index]?.is !== 'answered'));
    } catch (error) {
      this.#queues.withdraw(requests.filter((_, index) => admissions[index]?.is === 'mine'));
      throw error;
    }
  }

  #next(key: string): number | 'next' {
    return this.#occurrences?.next(key) ?? 'next';
  }
}

/** No request stands behind it, but a call is answered. */
function tellAgain(queue: Queue, call: CapturedCall, again: Delivery): void {
  const { answer, source } = again;
  const event = { ...factsOf(queue.batcher, queue), status: answer.status, source };
  answerCall(call, event, again);
}

/** The ledger's decision names the request: its row, its occurrence and with them its size. */
function named(pending: PendingRequest, admission: Admission): PendingRequest {
  pending.request = admission.request;
  pending.occurrence = admission.occurrence;
  if (admission.is === 'mine') pending.attempt = admission.attempt ?? 0;
  const { length } = String(admission.occurrence);
  const body = pending.body as string;
  const bytes = Buffer.byteLength(body);
  pending.bytes = pending.queue.envelopeBytes(length) + bytes;
  pending.tokens = estimateTokens(body, bytes);
  return pending;
}
