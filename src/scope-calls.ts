import { setImmediate as immediate } from 'node:timers/promises';
import { registeredBatchers } from './batchers/registry.ts';
import { Bypasses } from './bypasses.ts';
import { type CallOwner, ClientCall, goOut, type Outgoing, signalOf } from './client-call.ts';
import { EarlyEnd, refuse } from './early-end.ts';
import { EngineDoor } from './engine-door.ts';
import { engineScope } from './engine-scope.ts';
import { decodeUtf8, postUrl } from './hooks/read-call.ts';
import type { Fetch, RawAnswer, RawRequest } from './hooks/state.ts';
import { type LateBody, openBody, readUntilEnded } from './late-body.ts';
import type { ResolvedOptions } from './options.ts';
import { KeepAlive } from './orchestrator/keep-alive.ts';
import type { CapturedCall, EngineScope } from './orchestrator/pending.ts';
import { Router, type Target } from './orchestrator/router.ts';
import { headersOf, withoutOurHeader } from './outgoing-headers.ts';
import { loadResponses } from './respond.ts';
import { ScopeEvents } from './scope-events.ts';
import type { Dict } from './types.ts';
import { UncapturedCalls } from './uncaptured-calls.ts';
import { refuseFetch, WaysOut } from './ways-out.ts';

const keepAlive = new KeepAlive();

/** The calls of one scope: how they get in, and how they all come to an end. */
export class ScopeCalls implements CallOwner {
  readonly events = new ScopeEvents();
  readonly #options: ResolvedOptions;
  readonly #router: Router;
  readonly #bypasses: Bypasses;
  readonly #uncaptured: UncapturedCalls;
  readonly #scope: EngineScope & { flushing: boolean };
  readonly #pending = new Set<CapturedCall>();
  readonly #door: EngineDoor;
  readonly #whenIdle: (() => void)[] = [];
  readonly #earlyEnd = new EarlyEnd();
  readonly #waysOut: WaysOut;
  /** Calls whose body is being read, or whose client has sent them itself and waits. */
  #elsewhere = 0;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    const batchers = registeredBatchers(options.batchers);
    this.#router = new Router(batchers, options.hosts);
    this.#bypasses = new Bypasses(options, this.events);
    this.#uncaptured = new UncapturedCalls(options, this.#router, batchers, this.#bypasses);
    this.#waysOut = new WaysOut(options, this.events, this.#bypasses, this.#earlyEnd, () =>
      this.#waitFor(),
    );
    this.#scope = engineScope(options, this.events);
    this.#door = new EngineDoor(options, this.events);
  }

  /** `isLate`: the scope is closed, and captures nothing any more. */
  handleFetch(
    passOn: Fetch,
    input: string | URL | Request,
    init: RequestInit | undefined,
    isLate: boolean,
  ): Promise<Response> {
    const url = postUrl(input, init);
    if (url === '') return passOn(input, init);
    const target = isLate ? undefined : this.#router.find(url);
    if (target === undefined) {
      return this.#uncaptured.handleFetch(passOn, input, init, url, isLate);
    }
    const outgoing: Outgoing = { passOn, input, init };
    const headers = headersOf(outgoing);
    if (headers === undefined) return passOn(input, init);
    if (headers['x-batchling'] === 'off') return goOut(withoutOurHeader(outgoing));
    if (signalOf(outgoing)?.aborted) return goOut(outgoing);
    const { over } = this.#earlyEnd;
    if (over) return refuseFetch(over, target);
    if (this.#uncaptured.leaveToMock(url, 'fetch', init)) return goOut(outgoing);
    const body = openBody(input, init);
    return typeof body === 'string'
      ? this.#capture(outgoing, target, headers, body)
      : this.#captureLater({ ...outgoing, init: body.init }, target, headers, body);
  }

  /** A body that has to be read first; the scope does not end before it is, unless it is told to. */
  async #captureLater(
    outgoing: Outgoing,
    target: Target,
    headers: Dict,
    late: LateBody,
  ): Promise<Response> {
    const isRead = this.#waitFor();
    try {
      const read = await readUntilEnded(late, signalOf(outgoing), this.#earlyEnd);
      if ('over' in read) return await refuseFetch(read.over, target);
      const { over } = this.#earlyEnd;
      if (over) return await refuseFetch(over, target);
      signalOf(outgoing)?.throwIfAborted();
      const { body } = read;
      if (body === undefined) return await this.#waysOut.bypass(outgoing, target, notText);
      return this.#capture(outgoing, target, headers, body);
    } finally {
      isRead();
    }
  }

  #waitFor(): () => void {
    this.#elsewhere += 1;
    return () => {
      this.#elsewhere -= 1;
      this.#wakeIfIdle();
    };
  }

  #capture(outgoing: Outgoing, target: Target, headers: Dict, body: string): Promise<Response> {
    // Whether that fails is told with the answer.
    if (this.#pending.size === 0) loadResponses().catch(() => undefined);
    const signal = signalOf(outgoing);
    const { minBatch, onDeadline } = this.#options;
    const facts = {
      scope: this.#scope,
      target,
      headers,
      body,
      signal,
      outgoing,
      mayGoOut: minBatch > 1 || onDeadline === 'realtime',
    };
    return this.#start(new ClientCall(this, facts, this.#waysOut.toResponse));
  }

  #start<Result>(call: ClientCall<Result>): Promise<Result> {
    this.#pending.add(call);
    keepAlive.hold();
    this.#door.enter(call);
    return call.result;
  }

  mayCapture(method: string, url: string, contentType: unknown): boolean {
    if (method !== 'POST') return false;
    return this.#router.find(url) !== undefined || this.#uncaptured.isSuspect(url, contentType);
  }

  /** A request of a client that is not fetch; `undefined` sends it out as it is. */
  async handleRequest(
    request: RawRequest,
    signal: AbortSignal,
    isLate: boolean,
  ): Promise<RawAnswer | undefined> {
    const { url, headers } = request;
    const target = isLate ? undefined : this.#router.find(url);
    if (target === undefined) return this.#uncaptured.handleRequest(request, isLate);
    if (headers['x-batchling'] === 'off') return undefined;
    const { over } = this.#earlyEnd;
    if (over) return refuse(over, target);
    const body = decodeUtf8(request.body);
    if (body === undefined) {
      await target.load();
      return this.#bypasses.bypassed(target, url, notText);
    }
    const scope = this.#scope;
    const facts = { scope, target, headers, body, signal, endsAtDeadline: true };
    return this.#start(new ClientCall(this, facts, this.#waysOut.toRawAnswer(request.answered)));
  }

  escaped(url: string): void {
    this.#uncaptured.escaped(url);
  }

  leaveToMock(url: string): boolean {
    return this.#uncaptured.leaveToMock(url, 'node:http');
  }

  ended(call: CapturedCall): void {
    if (!this.#pending.delete(call)) return;
    keepAlive.release();
    this.#wakeIfIdle();
  }

  #wakeIfIdle(): void {
    if (!this.#isIdle()) return;
    for (const wake of this.#whenIdle.splice(0)) wake();
  }

  #isIdle(): boolean {
    return this.#pending.size + this.#elsewhere === 0;
  }

  aborted(call: CapturedCall): void {
    this.#door.engine?.abort(call);
  }

  abandoned(call: CapturedCall): void {
    this.#door.engine?.abandon(call);
  }

  async flush(): Promise<void> {
    // An SDK needs a few turns of its own before its request reaches us.
    await immediate();
    await this.#door.entered();
    await this.#door.engine?.flush(this.#scope);
  }

  async cancel(message: string, remotely: boolean): Promise<void> {
    this.#earlyEnd.sendAway({ message });
    await this.#door.entered();
    await this.#door.engine?.cancel([...this.#pending], message, remotely);
  }

  /** Flushes and waits until nobody waits any more; calls may still beget calls. */
  async finish(nothingWaits: () => void): Promise<void> {
    keepAlive.hold();
    try {
      await this.#answerAll();
      // In the same turn: a call made while the engine goes down must not be captured.
      nothingWaits();
      await this.#door.release();
      this.events.close();
    } finally {
      keepAlive.release();
    }
  }

  async #answerAll(): Promise<void> {
    for (;;) {
      await this.flush();
      if (this.#isIdle()) return;
      // Only now: what the intake brings in slices would otherwise be sent in slices.
      this.#scope.flushing = true;
      await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    }
  }

  /** Drops what is not planned and lets go; batches under way stay in the ledger. */
  abandon(): void {
    const message = 'The scope ended with an error before this call was answered.';
    this.#earlyEnd.end({ message });
    const note = this.#whatIsStored('an error');
    this.#leaveBehind(this.cancel(message, false), note);
  }

  abort(reason: unknown): void {
    this.#earlyEnd.end({ reason });
    const note = this.#whatIsStored('its signal');
    for (const call of [...this.#pending]) call.abort(reason);
    this.#leaveBehind(Promise.resolve(), note);
  }

  #leaveBehind(work: Promise<void>, note: string | undefined): void {
    keepAlive.hold();
    work
      .then(() => this.events.close(note))
      .then(() => this.#door.release())
      .catch((error: unknown) => this.#options.logger.error('batchling could not close', { error }))
      .finally(() => keepAlive.release());
  }

  /** For the user: what callers still wait for, where it is, and how to come by it. */
  #whatIsStored(endedBy: string): string | undefined {
    const { store } = this.#options;
    const open = new Set<object>();
    for (const { pending } of this.#pending) if (pending?.batch?.remote) open.add(pending.batch);
    if (open.size === 0 || store === ':memory:') return undefined;
    const batches =
      open.size === 1 ? 'a batch under way stays' : `${open.size} batches under way stay`;
    const collect = 'Run the program again to collect the answers.';
    return `ended by ${endedBy}; ${batches} in ${store}. ${collect}`;
  }
}

const notText = 'its body is not JSON text';
