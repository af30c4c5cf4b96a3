import { setImmediate as immediate } from 'node:timers/promises';
import { createBatchers } from './batchers/registry.ts';
import type { EngineUse } from './engines.ts';
import { type CallOwner, FetchCall, goOut, type Outgoing, signalOf } from './fetch-call.ts';
import { isPost, isRequest, readBody, readHeaders, urlText } from './hooks/read-call.ts';
import type { Fetch } from './hooks/state.ts';
import type { ResolvedOptions } from './options.ts';
import { answerHeaders } from './orchestrator/answer-headers.ts';
import { ownAnswer } from './orchestrator/answers.ts';
import type { Engine } from './orchestrator/engine.ts';
import { publish } from './orchestrator/events.ts';
import { KeepAlive } from './orchestrator/keep-alive.ts';
import type { EngineScope } from './orchestrator/pending.ts';
import { Router, type Target } from './orchestrator/router.ts';
import { warnOnce } from './report/warn-once.ts';
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
  readonly #scope: EngineScope & { flushing: boolean };
  readonly #pending = new Set<FetchCall>();
  #opening: Promise<EngineUse> | undefined;
  #engine: Engine | undefined;
  #whenIdle: (() => void)[] = [];

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.#router = new Router(createBatchers(options.batchers), options.hosts);
    this.#scope = engineScope(options, this.events);
  }

  handleFetch(passOn: Fetch, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const url = isPost(input, init) ? urlText(input) : '';
    const target = url === '' ? undefined : this.#router.find(url);
    if (target === undefined) return passOn(input, init);
    const outgoing = { passOn, input, init };
    const headers = readHeaders(input, init);
    if (headers['x-batchling'] === 'off') return goOut(withoutOurHeader(outgoing));
    if (signalOf(outgoing)?.aborted) return goOut(outgoing);
    const body = readBody(input, init);
    if (typeof body === 'string') return this.#capture(outgoing, target, url, headers, body);
    return Promise.resolve(body).then((text) =>
      text === undefined
        ? this.#bypass(outgoing, target, url, 'its body is not JSON text')
        : this.#capture(outgoing, target, url, headers, text),
    );
  }

  /** No async function here: its frame would keep the body for as long as the call waits. */
  #capture(
    outgoing: Outgoing,
    target: Target,
    url: string,
    headers: Dict,
    body: string,
  ): Promise<Response> {
    const query = url.includes('?') ? new URL(url).search : '';
    const call = new FetchCall(this, this.#scope, target, query, headers, body, outgoing);
    this.#pending.add(call);
    keepAlive.hold();
    if (this.#engine) this.#engine.capture(call);
    else this.#openFor(call);
    return this.#respond(call, url);
  }

  async #respond(call: FetchCall, url: string): Promise<Response> {
    const verdict = await call.verdict;
    if ('answer' in verdict) {
      responses ??= await import('./hooks/response.ts');
      return new responses.AnswerResponse(verdict.answer, answerHeaders(verdict), url);
    }
    const outgoing = call.outgoing as Outgoing;
    if ('passThrough' in verdict) return goOut(outgoing);
    return this.#bypass(outgoing, call.target, url, verdict.bypass);
  }

  #openFor(call: FetchCall): void {
    this.#opening ??= this.#open();
    this.#opening.then(
      ({ engine }) => {
        if (!call.aborted) engine.capture(call);
      },
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        const answer = ownAnswer(call.target.batcher, 'store', message);
        call.settle({ answer, source: 'batch', itemId: '' });
      },
    );
  }

  async #open(): Promise<EngineUse> {
    await this.events.show(this.#options.display);
    const { useEngine } = await import('./engines.ts');
    const use = await useEngine(this.#options);
    this.#engine = use.engine;
    return use;
  }

  async #bypass(
    outgoing: Outgoing,
    target: Target,
    url: string,
    reason: string,
  ): Promise<Response> {
    const address = url.replace(/[?#].*$/, '');
    const event = { url: address, reason };
    publish('call:bypassed', event);
    this.events.emit('call:bypassed', event);
    const message = `A call to ${address} cannot be batched: ${reason}.`;
    if (this.#options.bypass === 'error') {
      const answer = ownAnswer(target.batcher, 'unsupported', message);
      const headers = answerHeaders({ answer, source: 'batch', itemId: '' });
      responses ??= await import('./hooks/response.ts');
      return new responses.AnswerResponse(answer, headers, url);
    }
    if (this.#options.bypass === 'warn') {
      const cure = 'It goes out at full price; wrap it in realtime() to say that this is meant.';
      warnOnce(`${message} ${cure}`);
    }
    return goOut(outgoing);
  }

  ended(call: FetchCall): void {
    if (!this.#pending.delete(call)) return;
    keepAlive.release();
    if (this.#pending.size > 0) return;
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const wake of waiting) wake();
  }

  aborted(call: FetchCall): void {
    this.#engine?.abort(call);
  }

  async flush(): Promise<void> {
    // An SDK needs a few turns of its own before its request reaches us.
    await immediate();
    await this.#opening?.catch(() => undefined);
    await this.#engine?.flush(this.#scope);
  }

  async cancel(message: string, remotely: boolean): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#engine?.cancel([...this.#pending], message, remotely);
  }

  /** Flushes and waits until nobody waits any more; calls may still beget calls. */
  async finish(nothingWaits: () => void): Promise<void> {
    keepAlive.hold();
    try {
      await this.#answerAll();
      // In the same turn: a call made while the engine goes down must not be captured.
      nothingWaits();
      await this.#release();
      this.events.close();
    } finally {
      keepAlive.release();
    }
  }

  async #answerAll(): Promise<void> {
    for (;;) {
      await this.flush();
      if (this.#pending.size === 0) return;
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
    this.#leaveBehind(
      this.cancel('The scope ended with an error before this call was answered.', false),
      open > 0 && store !== ':memory:'
        ? `ended by an error; ${open === 1 ? 'a batch' : `${open} batches`} under way stay in ` +
            `${store}. Run the program again to collect the answers.`
        : undefined,
    );
  }

  abort(reason: unknown): void {
    for (const call of [...this.#pending]) call.abort(reason);
    this.#leaveBehind(Promise.resolve(), undefined);
  }

  #leaveBehind(work: Promise<void>, note: string | undefined): void {
    keepAlive.hold();
    work
      .then(() => this.events.close(note))
      .then(() => this.#release())
      .catch((error: unknown) => this.#options.logger.error('batchling could not close', { error }))
      .finally(() => keepAlive.release());
  }

  async #release(): Promise<void> {
    const use = await this.#opening?.catch(() => undefined);
    await use?.release();
  }
}

/** The call as it is, less the header that asked for it. */
function withoutOurHeader({ passOn, input, init }: Outgoing): Outgoing {
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  headers.delete('x-batchling');
  return { passOn, input, init: { ...init, headers } };
}

function engineScope(
  options: ResolvedOptions,
  events: ScopeEvents,
): EngineScope & { flushing: boolean } {
  const { window, maxWindow, batchSize, completionWindow, attempts } = options;
  const policy = { window, maxWindow, batchSize, completionWindow, attempts };
  return {
    policy,
    policyKey: Object.values(policy).join(),
    poll: options.poll,
    maxInFlight: options.maxInFlight,
    cache: options.cache,
    only: options.only,
    cleanup: options.cleanup,
    name: options.name,
    tags: options.tags,
    flushing: false,
    emit: events.emit,
  };
}
