import type { Dict } from '../../base/types.ts';
import { activeMock } from '../active-mock.ts';
import type {
  AnswerWith,
  BodyReader,
  BodyToCome,
  ClientTimer,
  Fetch,
  HookedCall,
  HookScope,
  WatchedSignal,
} from '../border.ts';
import { takeClientTimer } from '../client-timers/client-timers.ts';
import { isPatched, patch } from '../patch-registry.ts';
import { currentScope, sharedState, watchOf } from '../state.ts';
import {
  isRequest,
  openBody,
  postUrl,
  readHeaders,
  readOnce,
  withoutOurHeader,
} from './read-call.ts';

/** Names the wrapped function on the wrapper, so that `scope.fetch` can go around the wrapper. */
const inner = Symbol.for('batchling.fetch.inner');

/** Above 0 while a call is passed on: an older wrapper of ours further down must not capture it again. */
let passing = 0;

type Wrapped = Fetch & { [inner]?: Fetch };

/**
 * Replaces `globalThis.fetch` by a wrapper that hands calls to the current scope, and without one
 * passes them on unchanged. Idempotent: it wraps again only around another library's fetch.
 *
 * @returns the undo.
 */
export function hookFetch(): () => void {
  // Node can be started without fetch.
  if (typeof globalThis.fetch !== 'function') return () => undefined;
  return patch(globalThis, 'fetch', wrapFetch, 'globalThis.fetch');
}

export function isFetchHooked(): boolean {
  return typeof globalThis.fetch !== 'function' || isPatched(globalThis, 'fetch');
}

/** The fetch below our wrapper. */
export function plainFetch(): Fetch {
  const current: Wrapped = globalThis.fetch;
  // Only its own property: another library's wrapper may inherit from ours, and must stay in the chain.
  return (Object.hasOwn(current, inner) && current[inner]) || current;
}

/** A `fetch` that hands its calls to one scope, those inside of `realtime` apart. */
export function fetchOf(scope: HookScope): Fetch {
  return (...all) => {
    const original = plainFetch();
    let given: Parameters<Fetch>;
    try {
      given = readOnce(all, true) as Parameters<Fetch>;
    } catch (error) {
      return Promise.reject(error);
    }
    const call = new FetchCall(original, undefined, given);
    if (isMeantToGoOut(scope)) {
      call.readHeaders();
      return call.send();
    }
    return scope.handle(call) ?? sendShared(original, undefined, given);
  };
}

/** A scope that was made inside of `realtime` captures there. */
function isMeantToGoOut(scope: HookScope): boolean {
  const around = sharedState().scopes.getStore();
  if (around === undefined || !('realtime' in around)) return false;
  let parent = scope.parent;
  while (parent !== undefined && parent !== around) {
    parent = 'realtime' in parent ? undefined : parent.parent;
  }
  return parent === undefined;
}

function wrapFetch(original: Fetch): Fetch {
  // What is not captured leaves from here: each function in between would be a frame in the caller's stack.
  const wrapper = function fetch(this: unknown, ...all: Parameters<Fetch>) {
    const scope = passing > 0 ? undefined : currentScope();
    let given: readonly unknown[];
    try {
      given = readOnce(all, scope !== undefined);
    } catch (error) {
      // A getter of the options has thrown: fetch rejects, it does not throw.
      return Promise.reject(error);
    }
    const handled = scope?.handle(new FetchCall(original, this, given));
    if (handled !== undefined) return handled;
    const watch = shareSignalOf(given);
    if (watch !== undefined) return watch.reveal(() => Reflect.apply(original, this, given));
    return Reflect.apply(original, this, given);
  };
  Object.defineProperty(wrapper, inner, { value: original });
  return wrapper;
}

/** A call by fetch, with the `fetch` below our wrapper. */
class FetchCall implements HookedCall<Response> {
  readonly url: string;
  timer: ClientTimer | undefined;
  readonly #original: Fetch;
  readonly #self: unknown;
  /** All arguments: some callers pass more than fetch takes. */
  #given: readonly unknown[];
  #isOff = false;

  constructor(original: Fetch, self: unknown, given: readonly unknown[]) {
    this.#original = original;
    this.#self = self;
    this.#given = given;
    this.url = postUrl(this.#input, this.#init);
  }

  get #input(): string | URL | Request {
    return this.#given[0] as string | URL | Request;
  }

  get #init(): RequestInit | undefined {
    return this.#given[1] as RequestInit | undefined;
  }

  get signal(): AbortSignal | undefined {
    const input = this.#input;
    return this.#init?.signal ?? (isRequest(input) ? input.signal : undefined) ?? undefined;
  }

  /** The signal of a `Request` is one hop more from its timer. */
  get hops(): number {
    return this.#init?.signal ? 1 : 2;
  }

  get answerWith(): AnswerWith<Response> {
    return respond;
  }

  takeTimer(): void {
    this.timer = this.signal && takeClientTimer();
  }

  readHeaders(): Dict | undefined {
    try {
      const headers = readHeaders(this.#input, this.#init);
      this.#isOff = headers['x-batchling'] === 'off';
      return headers;
    } catch {
      return undefined;
    }
  }

  textOfBody(): string | undefined {
    const body = this.#init?.body;
    return typeof body === 'string' ? body : undefined;
  }

  readBody(): string | BodyToCome | undefined {
    // If that fails, the answer is rejected with the reason.
    loadResponses().catch(() => undefined);
    const opened = openBody(this.#input, this.#init);
    if (opened.init !== this.#init) this.#given = this.#givenWith(opened.init);
    return opened.body;
  }

  findMock(): string | undefined {
    return activeMock('fetch', (this.#init as { dispatcher?: unknown } | undefined)?.dispatcher);
  }

  /**
   * Marks the call as an ordinary one on its way out: below another library's wrapper there may be an older
   * wrapper of ours, which must not capture it again.
   */
  send(signal?: AbortSignal): Promise<Response> {
    let given = this.#given;
    if (this.#isOff) given = this.#givenWith(withoutOurHeader(this.#input, this.#init));
    else if (signal) given = this.#givenWith({ ...this.#init, signal });
    return sharedState().scopes.run({ realtime: true }, () => {
      passing += 1;
      try {
        return sendShared(this.#original, this.#self, given);
      } finally {
        passing -= 1;
      }
    });
  }

  async mark(response: Response, reader: BodyReader | undefined): Promise<Response> {
    const { realtimeResponse } = await import('./response.ts');
    return realtimeResponse(response, reader);
  }

  /** The signal of a `Request` follows its parent no longer than the `Request` itself is alive. */
  release(): FetchCall | undefined {
    if (!this.signal || !isRequest(this.#input)) return undefined;
    this.#given = [this.#input];
    return this;
  }

  #givenWith(init: RequestInit | undefined): readonly unknown[] {
    return [this.#input, init, ...this.#given.slice(2)];
  }
}

/** Sends a call whose signal may be that of captured calls, too. */
function sendShared(original: Fetch, self: unknown, given: readonly unknown[]): Promise<Response> {
  const watch = shareSignalOf(given);
  const go = () => Reflect.apply(original, self, given);
  return watch === undefined ? go() : watch.reveal(go);
}

/**
 * A call that is not captured must see the true state of the signal in its options. Returns the watch of
 * the signal, if captured calls use it, too. A `Request` has a signal of its own, which nothing else shares.
 */
function shareSignalOf([, init]: readonly unknown[]): WatchedSignal | undefined {
  const signal = (init as RequestInit | null | undefined)?.signal;
  if (typeof signal !== 'object' || signal === null) return undefined;
  sharedState().sharedSignals.add(signal);
  return watchOf(signal);
}

type Responses = typeof import('./response.ts');

let responses: Responses | undefined;
let loading: Promise<Responses> | undefined;

/**
 * Using `Response` makes Node load its whole fetch, so the module is loaded with the first call and
 * not on import. The first answer would be too late: a thousand may come at once.
 */
function loadResponses(): Promise<Responses> {
  loading ??= import('./response.ts').then((loaded) => {
    responses = loaded;
    return loaded;
  });
  return loading;
}

/** Synchronous once the module is loaded. */
const respond: AnswerWith<Response> = (answer, headers, url, reader) => {
  if (responses) return new responses.AnswerResponse(answer, headers, url, reader);
  return loadResponses().then(() => respond(answer, headers, url, reader));
};
