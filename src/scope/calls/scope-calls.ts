import { shownStore } from '../../base/store-address.ts';
import type { Clock, Dict } from '../../base/types.ts';
import { registeredBatchers } from '../../batchers/registry.ts';
import { inTurns, nextTurn } from '../../concurrency/event-loop.ts';
import { shareSignal } from '../../hooks/abort-guard/abort-guard.ts';
import { watchOf } from '../../hooks/abort-guard/signal-watch.ts';
import { takeClientTimer } from '../../hooks/client-timers/client-timers.ts';
import { decodeUtf8, postUrl } from '../../hooks/fetch/read-call.ts';
import type { Fetch, RawAnswer, RawRequest, RequestPlan } from '../../hooks/state.ts';
import type { ResolvedOptions } from '../../options/index.ts';
import { Router, type Target } from '../../orchestrator/capture/router.ts';
import type { Sampling } from '../../orchestrator/model/sampling.ts';
import type { LeftCalls } from '../../report/text/end-note.ts';
import { warnOnce } from '../../report/warn-once.ts';
import { ScopeDryRun, type ScopeForm } from '../dry-run/scope-dry-run.ts';
import { EngineDoor } from '../engine/engine-door.ts';
import { engineScope } from '../engine/engine-scope.ts';
import type { Askers } from '../engine/engines.ts';
import { processCalls } from '../process-calls.ts';
import { ScopeEvents } from '../scope-events.ts';
import { Bypasses, cannotBeBatched } from './bypasses.ts';
import { headersOf, withoutOurHeader } from './call-headers.ts';
import { CallsUnderWay, isSent, whileUp } from './calls-under-way.ts';
import { type CallOwner, ClientCall, goOut, type Outgoing, signalOf } from './client-call.ts';
import { dropped, EarlyEnd, type EndReason, refuse, unlessDropped } from './early-end.ts';
import { type LateBody, openBody, readUntilEnded, withOwnBytes } from './late-body.ts';
import { loadResponses } from './respond.ts';
import { UncapturedCalls } from './uncaptured-calls.ts';
import { refuseFetch, WaysOut } from './ways-out.ts';

/** The calls of one scope: how they get in, and how they all come to an end. */
export class ScopeCalls implements CallOwner {
  readonly events = new ScopeEvents();
  readonly #options: ResolvedOptions;
  readonly #router: Router;
  readonly #bypasses: Bypasses;
  readonly #uncaptured: UncapturedCalls;
  readonly #scope: ReturnType<typeof engineScope>;
  readonly dryRun: ScopeDryRun | undefined;
  readonly #calls: CallsUnderWay;
  readonly #door: EngineDoor;
  readonly #earlyEnd = new EarlyEnd();
  readonly #waysOut: WaysOut;
  /** Told with the first call, once. */
  whenUsed: (() => void) | undefined;

  constructor(options: ResolvedOptions, form: ScopeForm, askers?: Askers) {
    this.#options = options;
    this.dryRun = options.dryRun ? new ScopeDryRun(options, this.events, form) : undefined;
    // It ends the scope at once, also where calls were given the same one.
    if (options.signal) shareSignal(options.signal);
    const batchers = registeredBatchers(options.batchers);
    this.#router = new Router(batchers, options.hosts);
    this.#bypasses = new Bypasses(options, this.events, () => this.#dryRoundIsOver());
    this.#uncaptured = new UncapturedCalls(options, this.#router, batchers, this.#bypasses);
    this.#waysOut = new WaysOut(options, this.events, this.#bypasses, this.#earlyEnd, () =>
      this.#calls.waitFor(),
    );
    this.#scope = engineScope(options, this.events);
    const door = new EngineDoor(options, this.events, this.dryRun, askers);
    this.#door = door;
    const own = {
      store: options.store,
      get isStored() {
        return door.engine?.isStored ?? true;
      },
      leave: () => this.#leave(),
    };
    this.#calls = new CallsUnderWay(own, !options.dryRun);
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /** `undefined`: the call is none of ours. `isLate`: the scope is closed, and captures nothing any more. */
  handleFetch(
    passOn: Fetch,
    input: string | URL | Request,
    init: RequestInit | undefined,
    isLate: boolean,
  ): Promise<Response> | undefined {
    const url = postUrl(input, init);
    if (url === '') return undefined;
    const target = isLate ? undefined : this.#router.find(url);
    if (target === undefined) {
      return this.#uncaptured.handleFetch({ passOn, input, init }, url, isLate);
    }
    const signal = signalOf({ passOn, input, init });
    const timer = signal && takeClientTimer();
    const outgoing: Outgoing = { passOn, input, init, timer };
    const headers = headersOf(outgoing);
    if (headers === undefined) return undefined;
    if (headers['x-batchling'] === 'off') return goOut(withoutOurHeader(outgoing));
    if (signal?.aborted) return goOut(outgoing);
    const over = this.#over;
    if (over) return refuseFetch(this.#tooLate(over, target), target, timer);
    const abortIsDelivered = watchOf(signal)?.whenDelivered();
    if (abortIsDelivered) return this.#waitForAbort(outgoing, target, abortIsDelivered);
    if (this.#uncaptured.leaveToMock(url, 'fetch', init)) return goOut(outgoing);
    const body = openBody(input, init);
    if (typeof body === 'string') {
      const kept = { ...outgoing, init: withOwnBytes(init) };
      return this.#capture(kept, target, headers, body);
    }
    // At once: a form may be changed after the call.
    if (body.text === undefined) return this.#waysOut.bypass(outgoing, target, notText);
    return this.#captureLater({ ...outgoing, init: body.init }, target, headers, body);
  }

  /** A body that has to be read first; the scope does not end before it is, unless it is told to. */
  async #captureLater(
    outgoing: Outgoing,
    target: Target,
    headers: Dict,
    late: LateBody,
  ): Promise<Response> {
    const isRead = this.#calls.waitFor();
    let end: EndReason | undefined;
    try {
      const read = await readUntilEnded(late, signalOf(outgoing), this.#earlyEnd);
      end = 'over' in read ? read.over : this.#earlyEnd.over;
      if (end === undefined) {
        const signal = signalOf(outgoing);
        signal?.throwIfAborted();
        const abortIsDelivered = watchOf(signal)?.whenDelivered();
        if (abortIsDelivered) return await this.#waitForAbort(outgoing, target, abortIsDelivered);
        const { body } = read as { readonly body: string | undefined };
        if (body === undefined) return await this.#waysOut.bypass(outgoing, target, notText);
        return this.#capture(outgoing, target, headers, body);
      }
    } finally {
      isRead();
    }
    // Afterwards: it may be told nothing, and the scope waits for it no longer.
    return refuseFetch(end, target, outgoing.timer);
  }

  /**
   * A timer has aborted its signal, which does not show it yet because of others. Nothing is paid for
   * any more: it is told with them. Told at once, a loop on `signal.aborted` would ask again and again.
   */
  async #waitForAbort(
    outgoing: Outgoing,
    target: Target,
    abortIsDelivered: Promise<void>,
  ): Promise<Response> {
    const isTold = this.#calls.waitFor();
    const over = await whileUp(() => this.#earlyEnd.orSentAway(abortIsDelivered));
    isTold();
    return over ? refuseFetch(over, target, outgoing.timer) : goOut(outgoing);
  }

  /** Why calls are not sent any more. */
  get #over(): EndReason | undefined {
    return this.#earlyEnd.over ?? (processCalls().isLeaving ? { reason: dropped } : undefined);
  }

  /** Code of the scope goes on although its function threw: it waits for ever, and should know. */
  #tooLate(over: EndReason, target: Target): EndReason {
    const isMeant = processCalls().isLeaving || this.dryRun !== undefined;
    if (this.#earlyEnd.isDropping && !isMeant) {
      const address = target.url.replace(/[?#].*$/, '');
      warnOnce(
        `A call to ${address} was made inside a batchling scope that an error has ended: it is neither ` +
          'sent nor answered. Await all calls before the function of batchify() throws, or stop them.',
      );
    }
    return over;
  }

  #capture(outgoing: Outgoing, target: Target, headers: Dict, body: string): Promise<Response> {
    // Whether that fails is told with the answer.
    if (this.#calls.hasNone) loadResponses().catch(() => undefined);
    const signal = signalOf(outgoing);
    const facts = {
      scope: this.#scope,
      target,
      headers,
      body,
      signal,
      outgoing,
      mayGoOut: this.#mayGoOut,
    };
    return this.#start(new ClientCall(this, facts, this.#waysOut.toResponse));
  }

  /** Calls may yet have to go out as ordinary ones, although a batch could be had for them. */
  get #mayGoOut(): boolean {
    const { minBatch, onDeadline } = this.#options;
    return minBatch > 1 || onDeadline === 'realtime';
  }

  #start<Result>(call: ClientCall<Result>): Promise<Result> {
    this.#calls.add(call as ClientCall);
    this.#tellUsed();
    this.#door.enter(call);
    return call.result;
  }

  #tellUsed(): void {
    this.whenUsed?.();
    this.whenUsed = undefined;
  }

  /** A dry run may see nothing but calls that are not captured. */
  async #dryRoundIsOver(): Promise<void> {
    this.#tellUsed();
    await this.#door.opened();
    await this.dryRun?.roundIsOver();
  }

  mayCapture(method: string, url: string, contentType: unknown): boolean {
    if (method !== 'POST') return false;
    return this.#router.find(url) !== undefined || this.#uncaptured.isSuspect(url, contentType);
  }

  /** What becomes of a POST by `node:http`. */
  planRequest(url: string, isLate: boolean, checksServer: boolean): RequestPlan {
    const isOurs = !isLate && !checksServer && this.#router.find(url) !== undefined;
    return isOurs ? 'hold' : this.#uncaptured.plan(url, isLate, checksServer);
  }

  /** A request of a client that is not fetch; `undefined` sends it out as it is. */
  async handleRequest(
    request: RawRequest,
    signal: AbortSignal,
    isLate: boolean,
    sampling?: Sampling,
  ): Promise<RawAnswer | undefined> {
    const { url, headers } = request;
    const target = isLate || request.checksServer ? undefined : this.#router.find(url);
    if (target === undefined) return this.#uncaptured.handleRequest(request, isLate);
    if (headers['x-batchling'] === 'off') return undefined;
    const over = this.#over;
    if (over) return unlessDropped(refuse(this.#tooLate(over, target), target));
    const body = decodeUtf8(request.body);
    if (body === undefined) {
      await target.load();
      return this.#bypasses.bypassed(target, url, notText);
    }
    const facts = {
      scope: this.#scope,
      target,
      headers,
      body,
      signal,
      sampling,
      mayGoOut: this.#mayGoOut,
      endsAtDeadline: true,
    };
    return this.#start(new ClientCall(this, facts, this.#waysOut.toRawAnswer(request.answered)));
  }

  escaped(url: string): void {
    this.#uncaptured.escaped(url);
  }

  leaveToMock(url: string): boolean {
    return this.#uncaptured.leaveToMock(url, 'node:http');
  }

  ended(call: ClientCall): void {
    this.#calls.remove(call);
  }

  async flush(): Promise<void> {
    // An SDK needs a few turns of its own before its request reaches us.
    await nextTurn();
    await this.#door.entered();
    await this.#door.engine?.flush(this.#scope);
  }

  async cancel(): Promise<void> {
    const message = 'The scope was cancelled.';
    this.#earlyEnd.sendAway({ message });
    await this.#door.entered();
    const handles = this.#calls.all.flatMap(({ handle }) => handle ?? []);
    await this.#door.engine?.cancel(handles, message);
  }

  /** Flushes and waits until nobody waits any more; calls may still beget calls. */
  finish(nothingWaits: () => void): Promise<void> {
    return whileUp(async () => {
      await this.#answerAll();
      // In the same turn: a call made while the engine goes down must not be captured.
      nothingWaits();
      await this.dryRun?.tell();
      await this.#door.release();
      this.events.close();
    });
  }

  async #answerAll(): Promise<void> {
    for (;;) {
      await this.flush();
      // A batch answers its callers line by line; that all of it is collected is known a little later.
      if (this.#calls.isIdle) await this.#door.engine?.collected(this.#scope);
      if (this.#calls.isIdle) return;
      // Only now: what the intake brings in slices would otherwise be sent in slices.
      this.#scope.flushing = true;
      await this.#calls.idle();
    }
  }

  /** A dry run has seen what it can see: its calls stay as they are, and hold nothing. */
  stopDryRun(): void {
    this.#earlyEnd.end({ reason: dropped });
    this.#calls.letProcessEnd();
    const end = async () => {
      await this.#door.entered();
      await this.#dropUnsent();
      await this.dryRun?.tell();
      await this.#door.release();
    };
    const { logger } = this.#options;
    whileUp(end).catch((error: unknown) => logger.error('batchling could not close', { error }));
  }

  /** Drops what is not planned; batches under way stay in the ledger, and hold the process no longer. */
  abandon(): void {
    const left = this.#endEarly(dropped);
    this.#scope.ended = true;
    // First: it looks at the calls that wait, and dropping ends them.
    this.#calls.letProcessEnd();
    this.#leaveBehind('an error', left, this.#dropUnsent());
  }

  /** The process leaves: what waits stays in the ledger, and its callers hear nothing more of us. */
  #leave(): void {
    this.#earlyEnd.end({ reason: dropped });
    this.#scope.ended = true;
  }

  /** In turns: a hundred thousand may wait. */
  async #dropUnsent(): Promise<void> {
    await inTurns(this.#calls.all, (call) => {
      if (isSent(call)) call.handle?.leaveBehind();
      else call.drop();
    });
  }

  abort(reason: unknown): void {
    const left = this.#endEarly(reason);
    for (const call of this.#calls.all) call.abort(reason);
    this.#leaveBehind('its signal', left, Promise.resolve());
  }

  #endEarly(reason: unknown): LeftCalls {
    const left = this.#calls.tally(this.#earlyEnd.listening);
    this.#earlyEnd.end({ reason });
    return left;
  }

  #leaveBehind(endedBy: string, left: LeftCalls, work: Promise<void>): void {
    const { logger } = this.#options;
    const store = this.#door.engine?.isStored === false ? ':memory:' : this.#options.store;
    const say = async () => {
      const { endNote } = await import('../../report/text/end-note.ts');
      const note = endNote(endedBy, left, shownStore(store));
      await work;
      // It comes with the engine, and the scope may have ended before that was there.
      if (note !== undefined) await this.events.show(this.#options);
      this.events.close(note);
    };
    whileUp(say)
      .then(() => this.#calls.idle())
      .then(() => whileUp(() => this.#door.release()))
      .catch((error: unknown) => logger.error('batchling could not close', { error }));
  }
}

const notText = cannotBeBatched('its body is not JSON text');
