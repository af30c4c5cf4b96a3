import { setMaxListeners } from 'node:events';
import { messageOf } from '../../base/errors.ts';
import { backoff, sleep } from '../../concurrency/backoff.ts';
import { refuseRequests, tellEnd } from '../answer/delivery.ts';
import { ownAnswer } from '../answer/own-answer.ts';
import { factsOf, noAnswer, tell } from '../events/events.ts';
import type { OrdinaryLane } from '../model/call.ts';
import type { EngineContext } from '../model/engine-context.ts';
import type { Request } from '../model/request.ts';
import { answerAttempt, wasNotAccepted } from './attempt-end.ts';
import { beginAttempt, type CallAttempt, type LaneServices, makeAttempt } from './call-attempt.ts';
import type { CallLine } from './call-line.ts';
import { CallLines } from './call-lines.ts';
import { type CallOutcome, isLost, isUnpaid } from './call-outcome.ts';
import { Reservations } from './reservations.ts';
import { roomOpened } from './room-opened.ts';

/**
 * Sends requests as ordinary calls of ours, one by one, in the lane `flex` or `realtime`: marked in the ledger before
 * a byte goes out, stored and delivered when they are answered. At most `realtimeConcurrency` of an account are under
 * way. A provider that has no room is waited for.
 */
export class OrdinaryCalls {
  readonly #context: EngineContext;
  readonly #services: LaneServices;
  readonly #lines: CallLines;
  readonly #reserved = new Reservations();
  readonly #closed = new AbortController();
  /** Calls on the wire, and the promises that end with them. */
  readonly #onWire = new Map<
    Request,
    { readonly cancel: AbortController; readonly ended: Promise<void> }
  >();

  constructor(context: EngineContext, services: LaneServices) {
    this.#context = context;
    this.#services = services;
    this.#lines = new CallLines(context);
    setMaxListeners(0, this.#closed.signal);
  }

  /** Ends the call of a request that is on the wire. */
  cancel(request: Request): void {
    this.#onWire.get(request)?.cancel.abort();
  }

  /** Nothing more is sent, and nobody waits for a turn, for room or for another try. */
  close(): void {
    this.#closed.abort();
    for (const line of this.#lines.all) line.clear();
  }

  /** One promise for each call on the wire, which resolves when its outcome is stored. */
  underWay(): Promise<void>[] {
    return [...this.#onWire.values()].map(({ ended }) => ended);
  }

  /** Sends a request that is ours and in no queue, when it is its turn. */
  add(request: Request, wanted: OrdinaryLane): void {
    const { queue, scope } = request;
    const { tiers } = this.#services;
    const lane = wanted === 'flex' && tiers.mayHave(queue) ? 'flex' : 'realtime';
    if (wanted !== lane) tiers.tell(queue, scope);
    // It may wait in the other lane, where its time is up.
    this.#lines.remove(request);
    // What was to go there for its price, and not because its time is up, is batched instead.
    if (wanted !== lane && !request.isLate) {
      queue.leaveFlex();
      queue.add(request);
      return;
    }
    const line = this.#lines.open(queue, lane);
    if (line.isToHurry(request)) {
      this.add(request, 'realtime');
      return;
    }
    line.add(request);
    this.#pump(line);
  }

  #pump(line: CallLine): void {
    if (line.workers >= Math.min(line.atOnce, line.size)) return;
    line.workers += 1;
    this.#context.background('send ordinary calls', this.#unlessClosed(this.#work(line)));
  }

  /** Requests stay in their line until it is their turn: until then an abort or a deadline takes them out. */
  async #work(line: CallLine): Promise<void> {
    const { queue, room } = line;
    const { signal } = this.#closed;
    const { calls } = queue.account;
    try {
      while (line.size > 0) {
        await room.look();
        if (!room.isOpen) {
          for (const late of line.takeHurried()) this.add(late, 'realtime');
          if (line.size === 0) break;
          await roomOpened(this.#context, line, signal);
        }
        await calls.acquire(line.atOnce, signal, queue);
        try {
          const request = room.isOpen ? line.take() : undefined;
          if (request) await this.#turn(line, request);
        } finally {
          calls.release();
        }
      }
    } finally {
      line.workers -= 1;
    }
  }

  async #unlessClosed(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!this.#closed.signal.aborted) throw error;
    }
  }

  async #turn(line: CallLine, request: Request): Promise<void> {
    try {
      const { lane } = line;
      const reserved = this.#reserved;
      const attempt = await beginAttempt(this.#context, this.#services, request, lane, reserved);
      if (attempt) await this.#onTheWire(attempt, this.#make(line, attempt));
    } catch (error) {
      if (!this.#context.stopped.aborted) await this.#fail(request, error);
    } finally {
      this.#reserved.end(request);
    }
  }

  async #onTheWire(attempt: CallAttempt, ended: Promise<void>): Promise<void> {
    const { request, cancel, stream } = attempt;
    this.#onWire.set(request, { cancel, ended: ended.catch(() => undefined) });
    try {
      await ended;
    } finally {
      this.#onWire.delete(request);
      stream?.ended.resolve();
    }
  }

  async #make(line: CallLine, attempt: CallAttempt): Promise<void> {
    const outcome = await makeAttempt(this.#context, attempt);
    if (outcome.is === 'answer') this.#services.tiers.answered(attempt, outcome.answer);
    await this.#settle(line, attempt, outcome);
  }

  async #settle(line: CallLine, attempt: CallAttempt, outcome: CallOutcome): Promise<void> {
    const { room, queue } = line;
    const { troubles } = this.#context;
    // It was cut off by our own end: its mark stays, so that the next run says that it may be paid twice.
    if (this.#closed.signal.aborted && isLost(outcome)) return;
    if (outcome.is === 'unreachable') {
      room.unreachable(attempt.sentAt);
      const concerned = { wire: queue.wire, scopes: [attempt.request.scope] };
      troubles.met(concerned, 'send', outcome.error);
    } else if (outcome.is !== 'unsendable') {
      room.reached();
      troubles.passed(queue.wire, 'send');
    }
    if (isUnpaid(outcome)) attempt.spending?.paid(0);
    switch (outcome.is) {
      case 'answer':
        room.accepted();
        return answerAttempt(this.#context, attempt, outcome.answer);
      case 'full':
        room.close(attempt.sentAt, outcome.retryAfter);
        return this.#again(line, attempt);
      case 'unreachable':
        return room.isHopeless
          ? this.#giveUp(attempt, outcome.message)
          : this.#again(line, attempt);
      case 'unsendable':
        return this.#giveUp(attempt, outcome.message);
      case 'no tier':
        await wasNotAccepted(this.#context, attempt, 'its tier');
        return this.#leaveFlex(line, attempt.request);
      case 'failed':
        return this.#retry(line, attempt, outcome);
    }
  }

  /** Nothing of it was accepted: it waits for its next turn, which uses up no attempt. */
  async #again(line: CallLine, attempt: CallAttempt): Promise<void> {
    const { request } = attempt;
    await wasNotAccepted(this.#context, attempt);
    if (await this.#isWanted(request)) line.putBack(request);
  }

  /** The model has no such tier. The calls of all its queues that wait for one leave, too. */
  #leaveFlex(line: CallLine, refused: Request): void {
    const { tiers } = this.#services;
    tiers.refuse(line.queue, refused.scope);
    line.putBack(refused);
    for (const one of this.#lines.all) {
      if (one.lane !== 'flex' || tiers.mayHave(one.queue)) continue;
      for (let request = one.take(); request; request = one.take()) {
        if (request.isUnsent) this.add(request, 'flex');
      }
    }
  }

  /** It may be paid for, and has no answer. */
  async #retry(
    line: CallLine,
    attempt: CallAttempt,
    { last, message }: Extract<CallOutcome, { is: 'failed' }>,
  ): Promise<void> {
    const { request } = attempt;
    const { ledger, owner, clock, background } = this.#context;
    const { queue, scope } = request;
    const made = request.attempt + 1;
    // Its caller has seen the stream break off.
    if (attempt.stream?.isBegun) {
      const broken = ownAnswer(queue.batcher, 'missing', message);
      tellEnd(attempt.stream.caller, request, broken, line.lane);
    }
    if (request.isWanted && made >= queue.policy.attempts) {
      if (last === undefined) return this.#giveUp(attempt, message);
      return answerAttempt(this.#context, attempt, last);
    }
    await owner.run((id) => ledger.settled(id, [{ request: request.row, is: 'retry' }]));
    request.attempt = made;
    request.leaveWire();
    if (!(await this.#isWanted(request))) return;
    const reason = last === undefined ? noAnswer : 'server';
    const facts = factsOf(queue.batcher, queue);
    tell(scope.emit, 'request:retried', { ...facts, attempt: made + 1, reason });
    const waited = sleep(clock, backoff({ attempt: made }), this.#closed.signal).then(() => {
      // Its deadline may have put it into the other lane meanwhile.
      if (!request.isUnsent || this.#lines.has(request)) return;
      line.putBack(request);
      this.#pump(line);
    });
    background('wait before a call is sent again', this.#unlessClosed(waited));
  }

  /** Whether somebody still waits for a request that was not answered. Callers whose time is up are told. */
  async #isWanted(request: Request): Promise<boolean> {
    if (request.isWanted) return true;
    if (request.isWaitedFor) await this.#services.endDue(request.waiting);
    else this.#services.withdraw([request]);
    return false;
  }

  #giveUp(attempt: CallAttempt, message: string): Promise<void> {
    const text = `The call got no answer: ${message}`;
    return answerAttempt(
      this.#context,
      attempt,
      ownAnswer(attempt.request.batcher, 'missing', text),
    );
  }

  /** The ledger has failed, or a batcher of the user's: nobody may wait for what is not sent. The others get their turn. */
  async #fail(request: Request, error: unknown): Promise<void> {
    const { report } = this.#context;
    report('send an ordinary call', error);
    if (request.stage === 'done') return;
    const told = refuseRequests(this.#context, [request], ({ batcher }) =>
      ownAnswer(batcher, 'store', messageOf(error)),
    );
    await told.catch((failure: unknown) => report('store why a call was not sent', failure));
  }
}
