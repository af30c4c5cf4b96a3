import { setImmediate as immediate } from 'node:timers/promises';
import { registeredBatchers } from './batchers/registry.ts';
import { Bypasses } from './bypasses.ts';
import {
  type CallOwner,
  ClientCall,
  type Convert,
  goOut,
  type Outgoing,
  signalOf,
} from './client-call.ts';
import { EngineDoor } from './engine-door.ts';
import { engineScope } from './engine-scope.ts';
import {
  decodeUtf8,
  isPost,
  isRequest,
  readBody,
  readHeaders,
  urlText,
} from './hooks/read-call.ts';
import type { Fetch, RawAnswer, RawRequest } from './hooks/state.ts';
import type { ResolvedOptions } from './options.ts';
import { answerHeaders } from './orchestrator/answer-headers.ts';
import { ownAnswer } from './orchestrator/answers.ts';
import { KeepAlive } from './orchestrator/keep-alive.ts';
import type { CapturedCall, Delivery, EngineScope, Verdict } from './orchestrator/pending.ts';
import { Router, type Target } from './orchestrator/router.ts';
import { ScopeEvents } from './scope-events.ts';
import type { Dict } from './types.ts';

const keepAlive = new KeepAlive();

/** Loaded with the first answer: touching `Response` makes Node load its whole fetch. */
let responses: typeof import('./hooks/response.ts') | undefined;

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
  /** Calls whose body is being read. */
  #reading = 0;
  #over: Over | undefined;

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.#router = new Router(registeredBatchers(options.batchers), options.hosts);
    this.#bypasses = new Bypasses(options, this.events);
    this.#scope = engineScope(options, this.events);
    this.#door = new EngineDoor(options, this.events);
  }

  handleFetch(passOn: Fetch, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const url = isPost(input, init) ? urlText(input) : '';
    const target = url === '' ? undefined : this.#router.find(url);
    if (target === undefined) return passOn(input, init);
    let outgoing: Outgoing = { passOn, input, init };
    const headers = readHeaders(input, init);
    if (headers['x-batchling'] === 'off') return goOut(withoutOurHeader(outgoing));
    if (signalOf(outgoing)?.aborted) return goOut(outgoing);
    if (this.#over) return this.#refuse(this.#over, target).then((raw) => toResponse(raw, url));
    if (init?.body instanceof ReadableStream) {
      const [ours, theirs] = init.body.tee();
      outgoing = { passOn, input, init: { ...init, body: theirs } };
      const body = new Response(ours).text();
      return this.#captureLater(outgoing, target, url, headers, body);
    }
    const body = readBody(input, init);
    return typeof body === 'string'
      ? this.#capture(outgoing, target, url, headers, body)
      : this.#captureLater(outgoing, target, url, headers, body);
  }

  /** A body that has to be read first; the scope does not end before it is. */
  async #captureLater(
    outgoing: Outgoing,
    target: Target,
    url: string,
    headers: Dict,
    reading: Promise<string | undefined> | undefined,
  ): Promise<Response> {
    this.#reading += 1;
    try {
      const body = await reading;
      if (body === undefined) return await this.#bypass(outgoing, target, url, notText);
      return this.#capture(outgoing, target, url, headers, body);
    } finally {
      this.#reading -= 1;
      this.#wakeIfIdle();
    }
  }

  /** Code of a scope that an error or its signal has ended: nothing more is spent, at no price. */
  async #refuse(over: Over, target: Target): Promise<RawAnswer> {
    if ('reason' in over) throw over.reason;
    const answer = ownAnswer(await target.load(), 'cancelled', over.message);
    return { ...answer, headers: answerHeaders({ answer, source: 'batch', itemId: '' }) };
  }

  #capture(
    outgoing: Outgoing,
    target: Target,
    url: string,
    headers: Dict,
    body: string,
  ): Promise<Response> {
    const signal = signalOf(outgoing);
    const { minBatch, onDeadline } = this.#options;
    const facts = {
      scope: this.#scope,
      target,
      url,
      query: queryOf(url),
      headers,
      body,
      signal,
      outgoing,
      mayGoOut: minBatch > 1 || onDeadline === 'realtime',
    };
    return this.#start(new ClientCall(this, facts, this.#toResponse));
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
    if (this.#over) return this.#refuse(this.#over, target);
    const body = decodeUtf8(request.body);
    if (body === undefined) {
      await target.load();
      return this.#bypasses.bypassed(target, url, notText);
    }
    const query = queryOf(url);
    const scope = this.#scope;
    const facts = { scope, target, url, query, headers, body, signal, endsAtDeadline: true };
    return this.#start(new ClientCall(this, facts, this.#toRawAnswer));
  }

  readonly #toRawAnswer: Convert<RawAnswer | undefined> = (call, verdict) => {
    const { target, url, pending } = call;
    // We do not see how it ends, so its retry is expected in any case.
    if ('realtime' in verdict && pending) pending.queue.returning.wentRealtime(pending);
    if ('passThrough' in verdict || 'realtime' in verdict) return undefined;
    if ('bypass' in verdict) return this.#bypasses.bypassed(target, url, verdict.bypass);
    const { status, body } = verdict.answer;
    return { status, headers: answerHeaders(verdict), body };
  };

  readonly #toResponse: Convert<Response> = (call, verdict) => {
    if (!('answer' in verdict)) return call.runInAsyncScope(() => this.#sendOut(call, verdict));
    if (responses) {
      return new responses.AnswerResponse(verdict.answer, answerHeaders(verdict), call.url);
    }
    return import('./hooks/response.ts').then((loaded) => {
      responses = loaded;
      return this.#toResponse(call, verdict);
    });
  };

  async #sendOut(call: ClientCall<Response>, verdict: WayOut): Promise<Response> {
    if ('realtime' in verdict) {
      const { sendRealtime } = await import('./realtime-calls.ts');
      const { realtimeConcurrency, clock } = this.#options;
      const response = await sendRealtime(call, realtimeConcurrency, this.events.emit, clock);
      if (response !== 'timed out') return response;
      const message = 'The call went out as an ordinary one, and no answer came within 10 minutes.';
      const answer = ownAnswer(call.target.batcher, 'deadline', message);
      return this.#toResponse(call, { answer, source: 'realtime', itemId: '' });
    }
    const outgoing = call.outgoing as Outgoing;
    if ('passThrough' in verdict) return goOut(outgoing);
    return this.#bypass(outgoing, call.target, call.url, verdict.bypass);
  }

  async #bypass(
    outgoing: Outgoing,
    target: Target,
    url: string,
    reason: string,
  ): Promise<Response> {
    await target.load();
    const refusal = this.#bypasses.bypassed(target, url, reason);
    return refusal === undefined ? goOut(outgoing) : toResponse(refusal, url);
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
    if (this.#pending.size + this.#reading > 0) return;
    for (const wake of this.#whenIdle.splice(0)) wake();
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
      if (this.#pending.size + this.#reading === 0) return;
      // Only now: what the intake brings in slices would otherwise be sent in slices.
      this.#scope.flushing = true;
      await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    }
  }

  /** Drops what is not planned and lets go; batches under way stay in the ledger. */
  abandon(): void {
    const { store } = this.#options;
    const { submitted, collected } = this.events.stats.batches;
    const open = submitted - collected;
    const message = 'The scope ended with an error before this call was answered.';
    this.#over = { message };
    this.#leaveBehind(
      this.cancel(message, false),
      open > 0 && store !== ':memory:'
        ? `ended by an error; ${open === 1 ? 'a batch' : `${open} batches`} under way stay in ` +
            `${store}. Run the program again to collect the answers.`
        : undefined,
    );
  }

  abort(reason: unknown): void {
    this.#over = { reason };
    for (const call of [...this.#pending]) call.abort(reason);
    this.#leaveBehind(Promise.resolve(), undefined);
  }

  #leaveBehind(work: Promise<void>, note: string | undefined): void {
    keepAlive.hold();
    work
      .then(() => this.events.close(note))
      .then(() => this.#door.release())
      .catch((error: unknown) => this.#options.logger.error('batchling could not close', { error }))
      .finally(() => keepAlive.release());
  }
}

async function toResponse(raw: RawAnswer, url: string): Promise<Response> {
  responses ??= await import('./hooks/response.ts');
  return new responses.AnswerResponse(raw, raw.headers, url);
}

/** The call as it is, less the header that asked for it. */
function withoutOurHeader({ passOn, input, init }: Outgoing): Outgoing {
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  headers.delete('x-batchling');
  return { passOn, input, init: { ...init, headers } };
}

/** How a scope came to an end before its time. */
type Over = { readonly message: string } | { readonly reason: unknown };

type WayOut = Exclude<Verdict, Delivery>;

const notText = 'its body is not JSON text';

function queryOf(url: string): string {
  return url.includes('?') ? new URL(url).search : '';
}
