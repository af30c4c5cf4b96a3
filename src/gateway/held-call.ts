import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeUtf8 } from '../base/decode-utf8.ts';
import type { Dict } from '../base/types.ts';
import { type Deferred, deferred } from '../concurrency/deferred.ts';
import type { HookedCall, RawAnswer } from '../hooks/border.ts';
import { answerRaw } from '../hooks/raw-call.ts';
import type { Sampling } from '../orchestrator/model/sampling.ts';
import type { ScopeCalls } from '../scope/calls/scope-calls.ts';
import type { ReadBody } from './admission/read-request-body.ts';
import type { LosableCall } from './lost-calls.ts';
import type { ClientHeaders } from './pass-through/client-headers.ts';
import type { Route } from './request/routes.ts';

/** One request of a client, on its way through the gateway. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly headers: ClientHeaders;
}

/**
 * A call whose client holds its connection until the answer is there. It is what a scope knows of the call, and what the
 * engine is told of its sampling: one object with methods, because tens of thousands wait at once.
 */
export class HeldCall implements HookedCall<RawAnswer | undefined>, Sampling {
  readonly signal = undefined;
  readonly endsAtDeadline = true;
  readonly answerWith = answerRaw;
  readonly #exchange: Exchange;
  readonly #body: ReadBody;
  /** The call once it is captured. */
  captured: LosableCall | undefined;
  #hasGivenUp = false;
  #settle: ((end: 'leaving') => void) | undefined;
  /** Made when it is asked for: nearly no call goes out. */
  #status: Deferred<number | undefined> | undefined;

  constructor(exchange: Exchange, body: ReadBody) {
    this.#exchange = exchange;
    this.#body = body;
  }

  /** What the client gets; `undefined`: the call is to be passed on. */
  ask(calls: ScopeCalls): Promise<RawAnswer | 'leaving' | undefined> {
    return new Promise((resolve, reject) => {
      this.#settle = resolve;
      Promise.resolve(calls.handle(this)).then(resolve, reject);
    });
  }

  /** The gateway leaves: nobody waits for the answer any longer. */
  leave(): void {
    this.#settle?.('leaving');
  }

  get url(): string {
    return this.#exchange.route.url;
  }

  get sampling(): Sampling {
    return this;
  }

  get run(): string | undefined {
    return this.#exchange.headers.asked.sampling.run;
  }

  get fresh(): boolean {
    return this.#exchange.headers.asked.sampling.fresh === true;
  }

  get again(): boolean {
    return this.#exchange.headers.asked.sampling.again === true;
  }

  readHeaders(): Dict {
    return this.#exchange.headers.forwarded;
  }

  textOfBody(): string | undefined {
    return this.readBody();
  }

  readBody(): string | undefined {
    return decodeUtf8(this.#body.bytes as Buffer);
  }

  /** The handler passes it on. */
  send(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  answered(): Promise<number | undefined> {
    this.#status ??= deferred();
    return this.#status.promise;
  }

  /** A call that was passed on has its status; `undefined`: it gets none. */
  passedOn(status: number | undefined): void {
    this.#status?.resolve(status);
  }

  capturedAs(call: LosableCall): void {
    this.captured = call;
  }

  /**
   * The connection is closed. It counts as the client's own deadline: the request stays, and the client may come back
   * for it. False: that is known already.
   */
  giveUp(): boolean {
    if (this.#hasGivenUp) return false;
    this.#hasGivenUp = true;
    this.captured?.giveUp('timeout');
    return true;
  }

  release(): undefined {
    return undefined;
  }

  taken(): void {
    this.#body.bytes = undefined;
  }

  spooled(): void {
    this.#body.share.leave();
  }
}
