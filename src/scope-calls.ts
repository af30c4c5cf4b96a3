import { setMaxListeners } from 'node:events';
import { setImmediate as immediate } from 'node:timers/promises';
import { createBatchers } from './batchers/registry.ts';
import { type EngineUse, useEngine } from './engines.ts';
import { isDeadline } from './hooks/deadline.ts';
import { isPost, isRequest, readBody, readHeaders, urlText } from './hooks/read-call.ts';
import { AnswerResponse } from './hooks/response.ts';
import { type Fetch, sharedState } from './hooks/state.ts';
import type { ResolvedOptions } from './options.ts';
import { answerHeaders } from './orchestrator/answer-headers.ts';
import { ownAnswer } from './orchestrator/answers.ts';
import type { Engine } from './orchestrator/engine.ts';
import { publish } from './orchestrator/events.ts';
import { KeepAlive } from './orchestrator/keep-alive.ts';
import type { CapturedCall, EngineScope, Verdict } from './orchestrator/pending.ts';
import { Router, type Target } from './orchestrator/router.ts';
import { warnOnce } from './report/warn-once.ts';
import { ScopeEvents } from './scope-events.ts';
import type { Dict } from './types.ts';

const keepAlive = new KeepAlive();

interface Outgoing {
  readonly passOn: Fetch;
  readonly input: string | URL | Request;
  readonly init: RequestInit | undefined;
}

/** The calls of one scope: how they get in, and how they all come to an end. */
export class ScopeCalls {
  readonly events: ScopeEvents;
  readonly #options: ResolvedOptions;
  readonly #router: Router;
  readonly #scope: EngineScope & { flushing: boolean };
  readonly #pending = new Set<CapturedCall>();
  #opening: Promise<EngineUse> | undefined;
  #engine: Engine | undefined;
  #whenIdle: (() => void)[] = [];

  constructor(options: ResolvedOptions) {
    this.#options = options;
    this.events = new ScopeEvents(options.display);
    this.#router = new Router(createBatchers(options.batchers), options.hosts);
    this.#scope = engineScope(options, this.events);
  }

  handleFetch(passOn: Fetch, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const outgoing = { passOn, input, init };
    const target = this.#locate(input, init);
    if (target === undefined) return passOn(input, init);
    const headers = readHeaders(input, init);
    if (headers['x-batchling'] === 'off') return passOnStripped(outgoing);
    const signal = signalOf(outgoing);
    if (signal?.aborted) return passOn(input, init);
    const body = readBody(input, init);
    return typeof body === 'string'
      ? this.#capture(outgoing, target, headers, body, signal)
      : this.#captureLater(outgoing, target, headers, body, signal);
  }

  #locate(input: string | URL | Request, init: RequestInit | undefined): Located | undefined {
    if (!isPost(input, init)) return undefined;
    const text = urlText(input);
    if (!this.#router.knowsHost(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    const target = this.#router.locate(url);
    return target && { url, target };
  }

  async #captureLater(
    outgoing: Outgoing,
    located: Located,
    headers: Dict,
    reading: undefined | Promise<string | undefined>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const body = await reading;
    if (body !== undefined) return this.#capture(outgoing, located, headers, body, signal);
    return this.#bypass(outgoing, located, 'its body is not JSON text');
  }

  async #capture(
    outgoing: Outgoing,
    located: Located,
    headers: Dict,
    body: string,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const verdict = await this.#verdict(outgoing, located, headers, body, signal);
    if ('bypass' in verdict) return this.#bypass(outgoing, located, verdict.bypass);
    if ('passThrough' in verdict) return goOut(outgoing);
    return new AnswerResponse(verdict.answer, answerHeaders(verdict), located.url.href);
  }

  #verdict(
    outgoing: Outgoing,
    { url, target }: Located,
    headers: Dict,
    body: string,
    signal: AbortSignal | undefined,
  ): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const done = () => {
        if (!this.#pending.delete(call)) return false;
        keepAlive.release();
        signal?.removeEventListener('abort', onAbort);
        if (this.#pending.size === 0) this.#becomeIdle();
        return true;
      };
      const call: CapturedCall = {
        scope: this.#scope,
        target,
        url,
        headers,
        body,
        settle: (verdict) => {
          if (done()) resolve(verdict);
        },
        fail: (reason) => {
          if (done()) reject(reason);
        },
      };
      // Holds `outgoing` on purpose: the signal of a Request follows its parent only while the
      // Request itself is alive.
      const onAbort = () => {
        const reason: unknown = signalOf(outgoing)?.reason;
        if (isDeadline(reason)) return;
        this.#engine?.abort(call);
        call.aborted = true;
        call.fail(reason);
      };
      if (signal) {
        setMaxListeners(0, signal);
        signal.addEventListener('abort', onAbort, { once: true });
      }
      this.#pending.add(call);
      keepAlive.hold();
      if (this.#engine) this.#engine.capture(call);
      else this.#openFor(call);
    });
  }

  #openFor(call: CapturedCall): void {
    this.#opening ??= useEngine(this.#options).then((use) => {
      this.#engine = use.engine;
      return use;
    });
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

  #bypass(outgoing: Outgoing, { url, target }: Located, reason: string): Promise<Response> {
    const address = `${url.origin}${url.pathname}`;
    const event = { url: address, reason };
    publish('call:bypassed', event);
    this.events.emit('call:bypassed', event);
    const message = `A call to ${address} cannot be batched: ${reason}.`;
    if (this.#options.bypass === 'error') {
      const answer = ownAnswer(target.batcher, 'unsupported', message);
      const headers = answerHeaders({ answer, source: 'batch', itemId: '' });
      return Promise.resolve(new AnswerResponse(answer, headers, url.href));
    }
    if (this.#options.bypass === 'warn') {
      const cure = 'It goes out at full price; wrap it in realtime() to say that this is meant.';
      warnOnce(`${message} ${cure}`);
    }
    return goOut(outgoing);
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
  async finish(): Promise<void> {
    keepAlive.hold();
    try {
      await this.#answerAll();
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
      await this.#idle();
    }
  }

  /** Drops what is not planned and lets go; batches under way stay in the ledger. */
  abandon(): void {
    const { store } = this.#options;
    const open = this.events.stats.batches.submitted - this.events.stats.batches.collected;
    this.#leaveBehind(
      this.cancel('The scope ended with an error before this call was answered.', false),
      open > 0 && store !== ':memory:'
        ? `ended by an error; ${open === 1 ? 'a batch' : `${open} batches`} under way stay in ` +
            `${store}. Run the program again to collect the answers.`
        : undefined,
    );
  }

  abort(reason: unknown): void {
    for (const call of [...this.#pending]) {
      this.#engine?.abort(call);
      call.aborted = true;
      call.fail(reason);
    }
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

  #idle(): Promise<void> {
    if (this.#pending.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  #becomeIdle(): void {
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const wake of waiting) wake();
  }
}

interface Located {
  readonly url: URL;
  readonly target: Target;
}

function signalOf({ input, init }: Outgoing): AbortSignal | undefined {
  return init?.signal ?? (isRequest(input) ? input.signal : undefined) ?? undefined;
}

/** The call goes out as it is, less the header that asked for it. */
function passOnStripped({ passOn, input, init }: Outgoing): Promise<Response> {
  const headers = new Headers(init?.headers ?? (isRequest(input) ? input.headers : undefined));
  headers.delete('x-batchling');
  return goOut({ passOn, input, init: { ...init, headers } });
}

/**
 * As an ordinary call, decided once: below another library's wrapper there may be an older one of
 * ours, which must not capture it again.
 */
function goOut({ passOn, input, init }: Outgoing): Promise<Response> {
  return sharedState().scopes.run({ realtime: true }, () => passOn(input, init));
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
