import { setImmediate as immediate } from 'node:timers/promises';
import { registeredBatchers } from './batchers/registry.ts';
import { Bypasses } from './bypasses.ts';
import { type CallOwner, ClientCall, goOut, type Outgoing, signalOf } from './client-call.ts';
import { EarlyEnd, refuse } from './early-end.ts';
import { EngineDoor } from './engine-door.ts';
import { engineScope } from './engine-scope.ts';
import { shareSignal } from './hooks/deadline-guard.ts';
import { decodeUtf8, isRequest, postUrl, readHeaders } from './hooks/read-call.ts';
import { watchOf } from './hooks/signal-watch.ts';
import type { Fetch, RawAnswer, RawRequest } from './hooks/state.ts';
import { type LateBody, openBody, readUntilEnded } from './late-body.ts';
import type { ResolvedOptions } from './options.ts';
import { KeepAlive } from './orchestrator/keep-alive.ts';
import type { CapturedCall, EngineScope } from './orchestrator/pending.ts';
import { Router, type Target } from './orchestrator/router.ts';
import { loadResponses } from './respond.ts';
import { ScopeEvents } from './scope-events.ts';
import type { Clock, Dict } from './types.ts';
import { refuseFetch, WaysOut } from './ways-out.ts';

const keepAlive = new KeepAlive();

/** The calls of one scope: how they get in, and how they all come to an end. */
export class ScopeCalls implements CallOwner {
  readonly events = new ScopeEvents();
  readonly #options: ResolvedOptions;
  readonly #router: Router;
  readonly #bypasses: Bypasses;
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
    // It ends the scope at once, also where calls were given the same one.
    if (options.signal) shareSignal(options.signal);
    this.#router = new Router(registeredBatchers(options.batchers), options.hosts);
    this.#bypasses = new Bypasses(options, this.events);
    this.#waysOut = new WaysOut(options, this.events, this.#bypasses, this.#earlyEnd, () =>
      this.#waitFor(),
    );
    this.#scope = engineScope(options, this.events);
    this.#door = new EngineDoor(options, this.events);
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  handleFetch(passOn: Fetch, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const url = postUrl(input, init);
    const target = url === '' ? undefined : this.#router.find(url);
    if (target === undefined) return passOn(input, init);
    const outgoing: Outgoing = { passOn, input, init };
    const headers = headersOf(outgoing);
    if (headers === undefined) return passOn(input, init);
    if (headers['x-batchling'] === 'off') return goOut(withoutOurHeader(outgoing));
    const signal = signalOf(outgoing);
    if (signal?.aborted) return goOut(outgoing);
    const { over } = this.#earlyEnd;
    if (over) return refuseFetch(over, target);
    const abortIsDelivered = watchOf(signal)?.whenDelivered();
    if (abortIsDelivered) return this.#comesTooLate(outgoing, target, abortIsDelivered);
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
      const signal = signalOf(outgoing);
      signal?.throwIfAborted();
      const abortIsDelivered = watchOf(signal)?.whenDelivered();
      if (abortIsDelivered) return await this.#comesTooLate(outgoing, target, abortIsDelivered);
      const { body } = read;
      if (body === undefined) return await this.#waysOut.bypass(outgoing, target, notText);
      return this.#capture(outgoing, target, headers, body);
    } finally {
      isRead();
    }
  }

  /**
   * A timer has aborted its signal, which does not show it yet because of others. Nothing is paid for
   * any more: it is told with them. Told at once, a loop on `signal.aborted` would ask again and again.
   */
  async #comesTooLate(
    outgoing: Outgoing,
    target: Target,
    abortIsDelivered: Promise<void>,
  ): Promise<Response> {
    const isTold = this.#waitFor();
    keepAlive.hold();
    try {
      const over = await this.#earlyEnd.orSentAway(abortIsDelivered);
      return await (over ? refuseFetch(over, target) : goOut(outgoing));
    } finally {
      keepAlive.release();
      isTold();
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

  mayCapture(method: string, url: string): boolean {
    return method === 'POST' && this.#router.find(url) !== undefined;
  }

  /** A request of a client that is not fetch; `undefined` sends it out as it is. */
  async handleRequest(request: RawRequest, signal: AbortSignal): Promise<RawAnswer | undefined> {
    const { url, headers } = request;
    const target = this.#router.find(url);
    if (target === undefined || headers['x-batchling'] === 'off') return undefined;
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
    this.#bypasses.escaped(url);
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

  read(call: CapturedCall): void {
    this.#door.engine?.read(call);
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

/** `undefined`: they are none, and fetch itself refuses them in its own way. */
function headersOf({ input, init }: Outgoing): Dict | undefined {
  try {
    return readHeaders(input, init);
  } catch {
    return undefined;
  }
}

/** The call as it is, less the header that asked for it. */
function withoutOurHeader({ passOn, input, init }: Outgoing): Outgoing {
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  headers.delete('x-batchling');
  return { passOn, input, init: { ...init, headers } };
}

const notText = 'its body is not JSON text';
