import { tracing } from '../../base/call-tracing.ts';
import type { Dict } from '../../base/types.ts';
import { registeredBatchers } from '../../batchers/registry.ts';
import type { BodyToCome, HookScope, RequestPlan, ScopeOrRealtime } from '../../hooks/border.ts';
import { watchOf } from '../../hooks/state.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { Router, type Target } from '../../orchestrator/capture/router.ts';
import { warnOnce } from '../../report/warn-once.ts';
import { ScopeDryRun, type ScopeForm } from '../dry-run/scope-dry-run.ts';
import { EngineEntry } from '../engine/engine-entry.ts';
import type { Tenancy } from '../engine/engines.ts';
import { scopeTerms } from '../engine/scope-terms.ts';
import { processCalls } from '../process-calls.ts';
import { ScopeEvents } from '../scope-events.ts';
import { Bypasses, cannotBeBatched } from './bypasses.ts';
import { CallsUnderWay, whileUp } from './calls-under-way.ts';
import { ClientCall, type IncomingCall } from './client-call.ts';
import { dropped, EarlyEnd, type EndReason, isDrop, refusal, unlessDropped } from './early-end.ts';
import { deliverOwn } from './own-delivery.ts';
import { ScopeLife } from './scope-life.ts';
import { UncapturedCalls } from './uncaptured-calls.ts';
import { Verdicts } from './verdicts.ts';

const inProcess = processCalls();

/** Where a scope stands, and what it is to its program. */
export interface ScopePlace {
  readonly parent: ScopeOrRealtime | undefined;
  readonly hooked: boolean;
  readonly form: ScopeForm;
  readonly tenancy: Tenancy | undefined;
}

/** A scope as hooks know it: decides on each call that is made in it whether it is captured. */
export class ScopeCalls implements HookScope {
  readonly options: ResolvedOptions;
  readonly parent: ScopeOrRealtime | undefined;
  readonly hooked: boolean;
  /** A closed scope captures nothing, and reports LLM calls that come too late. */
  open = true;
  readonly events = new ScopeEvents();
  readonly life: ScopeLife;
  readonly dryRun: ScopeDryRun | undefined;
  readonly #router: Router;
  readonly #bypasses: Bypasses;
  readonly #uncaptured: UncapturedCalls;
  readonly #scope: ReturnType<typeof scopeTerms>;
  readonly #calls: CallsUnderWay;
  readonly #engine: EngineEntry;
  readonly #earlyEnd = new EarlyEnd();
  readonly #verdicts: Verdicts;
  /** Called once, with the first call of the scope. */
  whenUsed: (() => void) | undefined;

  constructor(options: ResolvedOptions, { parent, hooked, form, tenancy }: ScopePlace) {
    this.options = options;
    this.parent = parent;
    this.hooked = hooked;
    const { events } = this;
    this.dryRun = options.dryRun ? new ScopeDryRun(options, events, form) : undefined;
    const batchers = registeredBatchers(options.batchers);
    this.#router = new Router(batchers, options.hosts);
    this.#bypasses = new Bypasses(options, events, () => this.#dryRoundIsOver());
    this.#uncaptured = new UncapturedCalls(options, this.#router, batchers, this.#bypasses);
    this.#scope = scopeTerms(options, events);
    this.#engine = new EngineEntry(options, events, this.dryRun, tenancy);
    this.#calls = new CallsUnderWay(options, this.#engine, () => this.life.leave());
    this.#verdicts = new Verdicts(options, events, this.#bypasses, this.#earlyEnd, this.#calls);
    this.life = new ScopeLife({
      options,
      events,
      dryRun: this.dryRun,
      scope: this.#scope,
      engine: this.#engine,
      calls: this.#calls,
      earlyEnd: this.#earlyEnd,
    });
  }

  handle<Result>(call: IncomingCall<Result>): Promise<Result> | undefined {
    const { url } = call;
    if (url === '') return undefined;
    const target = this.open && !call.checksServer ? this.#router.find(url) : undefined;
    if (target === undefined) return this.#uncaptured.handle(call, !this.open);
    call.takeTimer?.();
    const headers = call.readHeaders();
    if (headers === undefined) return undefined;
    const { signal } = call;
    if (headers['x-batchling'] === 'off' || signal?.aborted) return call.send();
    const over = this.#over;
    if (over) return refuse(call, this.#tooLate(over, target), target);
    const abortIsDelivered = watchOf(signal)?.whenDelivered();
    if (abortIsDelivered) return this.#waitForAbort(call, target, abortIsDelivered);
    const mock = call.findMock?.();
    if (mock !== undefined && this.leaveToMock(url, mock)) return call.send();
    const body = call.readBody();
    if (typeof body === 'string') return this.#capture(call, target, headers, body);
    // At once: a form may be changed after the call.
    if (body === undefined) return this.#verdicts.bypass(call, target, notText);
    return this.#captureLater(call, target, headers, body);
  }

  /** A body that has to be read first; the scope does not end before it is, unless it is told to. */
  async #captureLater<Result>(
    call: IncomingCall<Result>,
    target: Target,
    headers: Dict,
    toCome: BodyToCome,
  ): Promise<Result> {
    const done = this.#calls.waitFor();
    let end: EndReason | undefined;
    try {
      const read = await this.#earlyEnd.readBody(toCome, call.signal);
      end = 'over' in read ? read.over : this.#earlyEnd.over;
      if (end === undefined) {
        call.signal?.throwIfAborted();
        const abortIsDelivered = watchOf(call.signal)?.whenDelivered();
        if (abortIsDelivered) return await this.#waitForAbort(call, target, abortIsDelivered);
        const { body } = read as { readonly body: string | undefined };
        if (body === undefined) return await this.#verdicts.bypass(call, target, notText);
        return this.#capture(call, target, headers, body);
      }
    } finally {
      done();
    }
    // After `done`: a dropped call stays unsettled for ever, and the scope must not wait for it.
    return refuse(call, end, target);
  }

  /**
   * A timer has aborted its signal, which does not show it yet because of others. Nothing is paid for
   * any more: it is told with them. Told at once, a loop on `signal.aborted` would ask again and again.
   */
  async #waitForAbort<Result>(
    call: IncomingCall<Result>,
    target: Target,
    abortIsDelivered: Promise<void>,
  ): Promise<Result> {
    const done = this.#calls.waitFor();
    const over = await whileUp(() => this.#earlyEnd.orSentAway(abortIsDelivered));
    done();
    return over ? refuse(call, over, target) : call.send();
  }

  /** Why calls are not sent any more. */
  get #over(): EndReason | undefined {
    return this.#earlyEnd.over ?? (inProcess.isLeaving ? { reason: dropped } : undefined);
  }

  /** Code of the scope goes on although its function threw: it waits for ever, and should know. */
  #tooLate(over: EndReason, target: Target): EndReason {
    const isMeant = inProcess.isLeaving || this.dryRun !== undefined;
    if (this.#earlyEnd.isDropping && !isMeant) {
      const address = target.url.replace(/[?#].*$/, '');
      warnOnce(
        `A call to ${address} was made inside a batchling scope that an error has ended: it is neither ` +
          'sent nor answered. Await all calls before the function of batchify() throws, or stop them.',
      );
    }
    return over;
  }

  #capture<Result>(
    incoming: IncomingCall<Result>,
    target: Target,
    headers: Dict,
    body: string,
  ): Promise<Result> {
    const { mayGoOut } = this.#verdicts;
    const facts = { scope: this.#scope, target, headers, body, mayGoOut };
    const call = new ClientCall(this.#verdicts, incoming, facts);
    tracing.tracer?.captured(call, headers);
    this.#calls.add(call as ClientCall);
    this.#tellUsed();
    this.#engine.enter(call);
    return call.result;
  }

  #tellUsed(): void {
    this.whenUsed?.();
    this.whenUsed = undefined;
  }

  /** A dry run may see nothing but calls that are not captured. */
  async #dryRoundIsOver(): Promise<void> {
    this.#tellUsed();
    await this.#engine.opened();
    await this.dryRun?.roundIsOver();
  }

  /** Whether the scope wants to see a POST whose body is not known yet. */
  mayCapture(url: string, contentType: unknown): boolean {
    return this.#router.find(url) !== undefined || this.#uncaptured.isSuspect(url, contentType);
  }

  planRequest(method: string, url: string, checksServer: boolean): RequestPlan {
    if (method !== 'POST') return 'leave';
    const isOurs = this.open && !checksServer && this.#router.find(url) !== undefined;
    return isOurs ? 'hold' : this.#uncaptured.plan(url, !this.open, checksServer);
  }

  knowsHost(url: string): boolean {
    return this.#router.knowsHost(url);
  }

  /** With a dispatcher of its own, a scope has said where its batches go: no mock wins over that. */
  leaveToMock(url: string, tool: string): boolean {
    if (this.options.dispatcher !== undefined) return false;
    if (this.#router.find(url)) this.#bypasses.mocked(url, tool);
    return true;
  }

  escaped(method: string, url: string): void {
    if (method === 'POST' && this.open) this.#uncaptured.escaped(url);
  }
}

const notText = cannotBeBatched('its body is not JSON text');

/** Refuses a call that was not captured. */
function refuse<Result>(
  call: IncomingCall<Result>,
  why: EndReason,
  target: Target,
): Promise<Result> {
  if (isDrop(why)) call.timer?.unref?.();
  return unlessDropped(deliverOwn(call, target.url, refusal(why, target)));
}
