import type { ClientTimer, RawAnswer, RawRequest } from '../../hooks/state.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { answerHeaders } from '../../orchestrator/answer/answer-headers.ts';
import { ownAnswer } from '../../orchestrator/answer/own-answer.ts';
import type { Target } from '../../orchestrator/capture/router.ts';
import { type AnswerSource, tell } from '../../orchestrator/events/events.ts';
import type { Delivery, RealtimeRoute, Verdict } from '../../orchestrator/model/call.ts';
import type { ScopeEvents } from '../scope-events.ts';
import { type Bypasses, type BypassReason, cannotBeBatched, leftOutBy } from './bypasses.ts';
import { type ClientCall, type Convert, goOut, type Outgoing } from './client-call.ts';
import { dropped, type EarlyEnd, type EndReason, refuse, unlessDropped } from './early-end.ts';
import type { RealtimeRules } from './realtime-calls.ts';
import type { Cost } from './realtime-cost.ts';
import { loadResponses, respond } from './respond.ts';

/** How captured calls leave a scope: with an answer, or out to the provider after all. */
export class WaysOut {
  readonly #options: ResolvedOptions;
  readonly #events: ScopeEvents;
  readonly #bypasses: Bypasses;
  readonly #earlyEnd: EarlyEnd;
  /** The scope waits for what is somewhere else; returns how it is told that this is over. */
  readonly #waitFor: () => () => void;

  constructor(
    options: ResolvedOptions,
    events: ScopeEvents,
    bypasses: Bypasses,
    earlyEnd: EarlyEnd,
    waitFor: () => () => void,
  ) {
    this.#options = options;
    this.#events = events;
    this.#bypasses = bypasses;
    this.#earlyEnd = earlyEnd;
    this.#waitFor = waitFor;
    const mayGoOut = options.minBatch > 1 || options.onDeadline === 'realtime';
    if (mayGoOut) loadBeforehand();
  }

  readonly toResponse: Convert<Response> = (call, verdict) => {
    if (!('answer' in verdict)) return call.runInAsyncScope(() => this.#sendOut(call, verdict));
    this.#earlyEnd.assertTold(verdict.answer.status);
    return respond(verdict.answer, answerHeaders(verdict), call.target.url, readerOf(call));
  };

  /** For a client that is not fetch; `undefined` makes it send the call itself. */
  toRawAnswer(answered: RawRequest['answered']): Convert<RawAnswer | undefined> {
    return (call, verdict) => {
      if ('answer' in verdict) {
        const { status, body } = verdict.answer;
        this.#earlyEnd.assertTold(status);
        return { status, headers: answerHeaders(verdict), body };
      }
      const { over } = this.#earlyEnd;
      if (over) return this.#refuse(over, call, verdict);
      if ('realtime' in verdict) return this.#letOut(call, verdict.realtime, answered);
      return this.#bypasses.bypassed(call.target, call.target.url, this.#reasonOf(verdict));
    };
  }

  /** `late`: the call, where its client has lost patience meanwhile. */
  async bypass(
    outgoing: Outgoing,
    target: Target,
    why: BypassReason,
    late?: ClientCall<Response>,
  ): Promise<Response> {
    // Without a wait where it goes out: a form may be changed after the call.
    if (this.#bypasses.areRefused) await target.load();
    const refused = this.#bypasses.bypassed(target, target.url, why);
    if (refused) {
      const answer = await refused;
      return respond(answer, answer.headers, target.url, late);
    }
    return late ? this.#sendLate(late) : goOut(outgoing);
  }

  async #sendOut(call: ClientCall<Response>, verdict: WayOut): Promise<Response> {
    const { target } = call;
    const { over } = this.#earlyEnd;
    if (over) return toFetch(this.#refuse(over, call, verdict), target.url);
    if ('realtime' in verdict) return this.#sendRealtime(call, verdict.realtime);
    const outgoing = call.outgoing as Outgoing;
    const late = 'leftOut' in verdict ? undefined : readerOf(call);
    return this.bypass(outgoing, target, this.#reasonOf(verdict), late);
  }

  #reasonOf(verdict: Exclude<WayOut, { realtime: RealtimeRoute }>): BypassReason {
    if ('leftOut' in verdict) return leftOutBy(this.#options.only, verdict.leftOut);
    return cannotBeBatched(verdict.bypass);
  }

  /** Its client's time was over while it was held: what is left of it is ours to limit. */
  async #sendLate(call: ClientCall<Response>): Promise<Response> {
    const { sendLate } = await import('./realtime-calls.ts');
    const response = await sendLate(call, this.#options.clock);
    return response === 'timed out' ? this.#timedOut(call) : response;
  }

  async #sendRealtime(call: ClientCall<Response>, route: RealtimeRoute): Promise<Response> {
    const refused = await this.#overBudget(call, route);
    if (refused) return toFetch(refused, call.target.url);
    const rules = this.#realtimeRules(route);
    const { sendRealtime } = await import('./realtime-calls.ts');
    try {
      const response = await sendRealtime(call, rules);
      if (response !== 'timed out') {
        this.#earlyEnd.assertTold(response.status);
        return response;
      }
    } catch (error) {
      if (this.#earlyEnd.isDropping) throw dropped;
      const refused = this.#refuse(whySentAway(rules, error), call, { realtime: route });
      return toFetch(refused, call.target.url);
    }
    const response = await this.#timedOut(call);
    rules.answered(response.status);
    return response;
  }

  #timedOut(call: ClientCall<Response>): Response | Promise<Response> {
    const message = 'The call went out as an ordinary one, and no answer came within 10 minutes.';
    const answer = ownAnswer(call.target.batcher, 'deadline', message);
    return this.toResponse(call, { answer, source: 'realtime', itemId: '' });
  }

  async #letOut(
    call: ClientCall<RawAnswer | undefined>,
    route: RealtimeRoute,
    answered: RawRequest['answered'],
  ): Promise<RawAnswer | undefined> {
    const refused = await this.#overBudget(call, route);
    if (refused) return refused;
    const rules = this.#realtimeRules(route);
    const { letOutRealtime } = await import('./realtime-calls.ts');
    try {
      await letOutRealtime(call, rules, answered, this.#waitFor());
      return undefined;
    } catch (error) {
      return this.#refuse(whySentAway(rules, error), call, { realtime: route });
    }
  }

  /** What a call gets that is not to go out. One that was captured has been answered with it. */
  async #refuse(why: EndReason, { target }: Leaving, verdict: WayOut): Promise<RawAnswer> {
    const answer = await refuse(why, target);
    if ('realtime' in verdict) this.#answered(verdict.realtime, answer.status, 'batch');
    return answer;
  }

  /** The answer to a call that the budget of its run has no room for. */
  async #overBudget({ target }: Leaving, route: RealtimeRoute): Promise<RawAnswer | undefined> {
    const message = await route.spending?.reserve();
    if (message === undefined) return undefined;
    const answer = ownAnswer(target.batcher, 'budget', message);
    this.#answered(route, answer.status, 'batch');
    return { ...answer, headers: answerHeaders({ answer, source: 'batch', itemId: '' }) };
  }

  #realtimeRules(route: RealtimeRoute): RealtimeRules {
    const { realtimeConcurrency: atOnce, clock } = this.#options;
    const answered: RealtimeRules['answered'] = (status, cost) => {
      if (cost === undefined) this.#answered(route, status, 'realtime');
      else this.#answeredLater(route, status, cost);
    };
    return { atOnce, clock, route, answered, line: this.#earlyEnd.line };
  }

  /** The caller has its response already; the scope waits until it is known what that has cost. */
  #answeredLater(route: RealtimeRoute, status: number, cost: Promise<Cost>): void {
    const isRead = this.#waitFor();
    void cost.then((known) => {
      this.#answered(route, status, 'realtime', known);
      isRead();
    });
  }

  #answered(route: RealtimeRoute, status: number, source: AnswerSource, cost: Cost = {}): void {
    const paid = cost.dollars?.paid ?? (status >= 400 ? 0 : undefined);
    // Of a stream it is not known: its estimate goes on to count.
    if (source === 'realtime' && paid !== undefined) route.spending?.paid(paid);
    tell(this.#events.emit, 'call:answered', { ...route.facts, status, source, ...cost });
  }
}

/**
 * When the scope is made: thousands may go out, or be told that they must not, and would all go on in one
 * turn if they had to wait for it. What cannot be loaded is told to who needs it.
 */
function loadBeforehand(): void {
  Promise.all([import('./realtime-calls.ts'), loadResponses()]).catch(() => undefined);
}

/** Only of a client that lost patience it matters whether it reads its answer. */
function readerOf(call: ClientCall<Response>): ClientCall<Response> | undefined {
  return call.abandoned ? call : undefined;
}

type WayOut = Exclude<Verdict, Delivery>;
type Leaving = Pick<ClientCall, 'target'>;

/** What a call by fetch gets that was not captured and is not to go out. */
export function refuseFetch(
  why: EndReason,
  target: Target,
  timer: ClientTimer | undefined,
): Promise<Response> {
  if ('reason' in why && why.reason === dropped) timer?.unref?.();
  return unlessDropped(toFetch(refuse(why, target), target.url));
}

async function toFetch(refused: RawAnswer | Promise<RawAnswer>, url: string): Promise<Response> {
  const raw = await refused;
  return respond(raw, raw.headers, url);
}

/** Why a call that waited for its turn does not go out; throws any other error. */
function whySentAway({ line }: RealtimeRules, error: unknown): EndReason {
  if (line.aborted && error === line.reason) return error as EndReason;
  throw error;
}
