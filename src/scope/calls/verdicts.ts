import type { Clock } from '../../base/types.ts';
import type { Cost } from '../../ledger/ledger.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { answerHeaders } from '../../orchestrator/answer/answer-headers.ts';
import { ownAnswer } from '../../orchestrator/answer/own-answer.ts';
import { endRealtimeCall } from '../../orchestrator/answer/realtime-end.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import { tell } from '../../orchestrator/events/events.ts';
import type { Delivery, RealtimeRoute, Verdict } from '../../orchestrator/model/call.ts';
import type { ScopeEvents } from '../scope-events.ts';
import { type Bypasses, type BypassReason, cannotBeBatched, leftOutBy } from './bypasses.ts';
import type { CallsUnderWay } from './calls-under-way.ts';
import type { CallOwner, ClientCall, IncomingCall } from './client-call.ts';
import { dropped, type EarlyEnd, type EndReason, refusal } from './early-end.ts';
import { deliverOwn, ownDelivery } from './own-delivery.ts';
import type { RealtimeRules } from './realtime-calls.ts';

/** Carries out what the engine has decided on the calls of a scope: an answer, or out to the provider after all. */
export class Verdicts implements CallOwner {
  readonly #options: ResolvedOptions;
  readonly #events: ScopeEvents;
  readonly #bypasses: Bypasses;
  readonly #earlyEnd: EarlyEnd;
  readonly #calls: CallsUnderWay;

  constructor(
    options: ResolvedOptions,
    events: ScopeEvents,
    bypasses: Bypasses,
    earlyEnd: EarlyEnd,
    calls: CallsUnderWay,
  ) {
    this.#options = options;
    this.#events = events;
    this.#bypasses = bypasses;
    this.#earlyEnd = earlyEnd;
    this.#calls = calls;
    // Thousands may go out, and would all go on in one turn if they had to wait for the module. One that
    // cannot be loaded rejects the call that needs it.
    if (this.mayGoOut) import('./realtime-calls.ts').catch(() => undefined);
  }

  /** Calls may yet have to go out as ordinary ones, although a batch could be had for them. */
  get mayGoOut(): boolean {
    const { minBatch, onSmallBatch, onDeadline } = this.#options;
    return (minBatch > 1 && onSmallBatch === 'realtime') || onDeadline === 'realtime';
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  ended(call: ClientCall): void {
    this.#calls.remove(call);
  }

  resultOf<Result>(call: ClientCall<Result>, verdict: Verdict): Result | Promise<Result> {
    if (!('answer' in verdict)) return call.runInAsyncScope(() => this.#sendOut(call, verdict));
    const { answer } = verdict;
    this.#assertTold(answer.status);
    return call.answerWith(answer, answerHeaders(verdict), call.target.url, readerOf(call));
  }

  /** After an error in the scope's function, only good answers are delivered: see `dropped`. */
  #assertTold(status: number): void {
    if (status >= 400 && this.#earlyEnd.isDropping) throw dropped;
  }

  /** `late`: the call, where its client has lost patience meanwhile. */
  async bypass<Result>(
    call: Pick<IncomingCall<Result>, 'answerWith' | 'send'>,
    target: Target,
    why: BypassReason,
    late?: ClientCall<Result>,
  ): Promise<Result> {
    // Without a wait where it goes out: a form may be changed after the call.
    if (this.#bypasses.areRefused) await target.load();
    const refused = this.#bypasses.bypassed(target, why);
    if (refused) return deliverOwn(call, target.url, refused, late);
    return late ? this.#sendLate(late) : call.send();
  }

  async #sendOut<Result>(call: ClientCall<Result>, verdict: SendVerdict): Promise<Result> {
    const { over } = this.#earlyEnd;
    if (over) return this.#refuse(call, over, 'realtime' in verdict ? verdict.realtime : undefined);
    if ('realtime' in verdict) return this.#sendRealtime(call, verdict.realtime);
    if ('leftOut' in verdict) {
      return this.bypass(call, call.target, leftOutBy(this.#options.only, verdict.leftOut));
    }
    return this.bypass(call, call.target, cannotBeBatched(verdict.bypass), readerOf(call));
  }

  /** The client's time was over while its call was held: from here on we limit it. */
  async #sendLate<Result>(call: ClientCall<Result>): Promise<Result> {
    const { sendLate } = await import('./realtime-calls.ts');
    const result = await sendLate(call, this.#options.clock);
    return result === 'timed out' ? this.resultOf(call, timedOut(call)) : result;
  }

  async #sendRealtime<Result>(call: ClientCall<Result>, route: RealtimeRoute): Promise<Result> {
    const rules = this.#realtimeRules(route);
    const { sendRealtime, letOutRealtime } = await import('./realtime-calls.ts');
    try {
      if (call.incoming?.answered) {
        const out = await letOutRealtime(call, rules, this.#calls.waitFor());
        return out ? this.#overBudget(call, route, out.refused) : await call.send();
      }
      const sent = await sendRealtime(call, rules);
      if (sent !== 'timed out') {
        if ('refused' in sent) return this.#overBudget(call, route, sent.refused);
        this.#assertTold(sent.status);
        return sent.result;
      }
    } catch (error) {
      if (this.#earlyEnd.isDropping) throw dropped;
      return this.#refuse(call, whySentAway(rules, error), route);
    }
    const late = timedOut(call);
    const result = await this.resultOf(call, late);
    rules.answered(late.answer.status);
    return result;
  }

  #overBudget<Result>(
    call: ClientCall<Result>,
    route: RealtimeRoute,
    why: string,
  ): Promise<Result> {
    const refused = ownDelivery(call.target.batcher, 'budget', why);
    this.#tellRefused(route, refused.answer.status);
    return deliverOwn(call, call.target.url, refused);
  }

  /** Refuses a call that is not to go out. With a route it was captured, and counts as answered. */
  async #refuse<Result>(
    call: ClientCall<Result>,
    why: EndReason,
    route: RealtimeRoute | undefined,
  ): Promise<Result> {
    const refused = await refusal(why, call.target);
    if (route) this.#tellRefused(route, refused.answer.status);
    return deliverOwn(call, call.target.url, refused);
  }

  #realtimeRules(route: RealtimeRoute): RealtimeRules {
    const { realtimeConcurrency: atOnce, clock } = this.#options;
    const answered: RealtimeRules['answered'] = (status, cost) => {
      if (cost === undefined) endRealtimeCall(route, this.#events.emit, status, undefined);
      else this.#answeredLater(route, status, cost);
    };
    return { atOnce, clock, route, answered, line: this.#earlyEnd.line };
  }

  /** The caller has its response already; the scope waits until it is known what that has cost. */
  #answeredLater(route: RealtimeRoute, status: number, cost: Promise<Cost | undefined>): void {
    const done = this.#calls.waitFor();
    void cost.then((known) => {
      endRealtimeCall(route, this.#events.emit, status, known);
      done();
    });
  }

  #tellRefused(route: RealtimeRoute, status: number): void {
    tell(this.#events.emit, 'call:answered', { ...route.facts, status, source: 'batch' });
  }
}

type SendVerdict = Exclude<Verdict, Delivery>;

/** Whether a client reads its answer matters only where it has lost patience before. */
function readerOf<Result>(call: ClientCall<Result>): ClientCall<Result> | undefined {
  return call.abandoned ? call : undefined;
}

function timedOut({ target }: Pick<ClientCall, 'target'>): Delivery {
  const message = 'The call went out as an ordinary one, and no answer came within 10 minutes.';
  return { answer: ownAnswer(target.batcher, 'deadline', message), source: 'realtime', itemId: '' };
}

/** Why a call that waited for its turn does not go out; throws any other error. */
function whySentAway({ line }: RealtimeRules, error: unknown): EndReason {
  if (line.aborted && error === line.reason) return error as EndReason;
  throw error;
}
