import { setMaxListeners } from 'node:events';
import { isDeadline } from './hooks/deadline.ts';
import { isRequest } from './hooks/read-call.ts';
import { type Fetch, sharedState } from './hooks/state.ts';
import type { CapturedCall, EngineScope, PendingRequest, Verdict } from './orchestrator/pending.ts';
import type { Target } from './orchestrator/router.ts';
import type { Dict } from './types.ts';

/** A fetch as it was made, with the way out. */
export interface Outgoing {
  readonly passOn: Fetch;
  readonly input: string | URL | Request;
  readonly init: RequestInit | undefined;
}

export function signalOf({ input, init }: Outgoing): AbortSignal | undefined {
  return init?.signal ?? (isRequest(input) ? input.signal : undefined) ?? undefined;
}

/**
 * As an ordinary call, decided once: below another library's wrapper there may be an older one of
 * ours, which must not capture it again.
 */
export function goOut({ passOn, input, init }: Outgoing): Promise<Response> {
  return sharedState().scopes.run({ realtime: true }, () => passOn(input, init));
}

/** Who is told how a call went. */
export interface CallOwner {
  ended(call: FetchCall): void;
  aborted(call: FetchCall): void;
}

/**
 * A captured fetch. A class with methods and not a handful of closures: a hundred thousand of them
 * wait at once, and closures would keep headers and bodies alive that nobody needs any more.
 */
export class FetchCall implements CapturedCall {
  readonly scope: EngineScope;
  readonly target: Target;
  readonly query: string;
  headers: Dict;
  body: string;
  pending: PendingRequest | undefined;
  aborted = false;
  readonly verdict: Promise<Verdict>;
  readonly #owner: CallOwner;
  readonly #signal: AbortSignal | undefined;
  /** Until the engine has taken the call: it may still have to go out as an ordinary one. */
  outgoing: Outgoing | undefined;
  #resolve!: (verdict: Verdict) => void;
  #reject!: (reason: unknown) => void;

  constructor(
    owner: CallOwner,
    scope: EngineScope,
    target: Target,
    query: string,
    headers: Dict,
    body: string,
    outgoing: Outgoing,
  ) {
    this.#owner = owner;
    this.scope = scope;
    this.target = target;
    this.query = query;
    this.headers = headers;
    this.body = body;
    this.outgoing = outgoing;
    this.#signal = signalOf(outgoing);
    this.verdict = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (this.#signal) {
      // One signal may serve thousands of calls; Node would warn at the eleventh.
      setMaxListeners(0, this.#signal);
      this.#signal.addEventListener('abort', this, { once: true });
    }
  }

  /** The signal's listener. */
  handleEvent(): void {
    if (!isDeadline(this.#signal?.reason)) this.abort(this.#signal?.reason);
  }

  abort(reason: unknown): void {
    this.aborted = true;
    this.#owner.aborted(this);
    this.fail(reason);
  }

  settle(verdict: Verdict): void {
    this.#end();
    this.#resolve(verdict);
  }

  fail(reason: unknown): void {
    this.#end();
    this.#reject(reason);
  }

  /**
   * The engine has all it needs. Of the fetch itself only a `Request` is kept, because its signal
   * follows its parent no longer than the `Request` itself is alive.
   */
  taken(): void {
    this.headers = {};
    this.body = '';
    const outgoing = this.outgoing as Outgoing;
    this.outgoing =
      this.#signal && isRequest(outgoing.input) ? { ...outgoing, init: undefined } : undefined;
  }

  #end(): void {
    this.#signal?.removeEventListener('abort', this);
    this.#owner.ended(this);
  }
}
