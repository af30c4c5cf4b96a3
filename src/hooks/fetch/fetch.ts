import { shareSignal } from '../abort-guard/abort-guard.ts';
import { watchOf } from '../abort-guard/signal-watch.ts';
import { isPatched, patch } from '../patch-registry.ts';
import { currentScope, type Fetch, type HookScope, type WatchedSignal } from '../state.ts';
import { readOnce } from './read-once.ts';

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

function wrapFetch(original: Fetch): Fetch {
  // What is not captured leaves from here: each function in between would be a frame in the caller's stack.
  const wrapper = function fetch(this: unknown, ...given: Parameters<Fetch>) {
    const scope = passing > 0 ? undefined : currentScope();
    let call: readonly unknown[];
    try {
      call = readOnce(given, scope !== undefined);
    } catch (error) {
      // A getter of the options has thrown: fetch rejects, it does not throw.
      return Promise.reject(error);
    }
    const handled = scope && handle(scope, original, this, call);
    if (handled !== undefined) return handled;
    const watch = shareSignalOf(call);
    if (watch !== undefined) return watch.reveal(() => Reflect.apply(original, this, call));
    return Reflect.apply(original, this, call);
  };
  Object.defineProperty(wrapper, inner, { value: original });
  return wrapper;
}

/** Hands a call to the scope; a call that the scope passes on keeps all its arguments. */
export function askScope(
  scope: HookScope,
  original: Fetch,
  self: unknown,
  call: Parameters<Fetch>,
): Promise<Response> {
  return handle(scope, original, self, call) ?? send(original, self, call);
}

function handle(
  scope: HookScope,
  original: Fetch,
  self: unknown,
  call: readonly unknown[],
): Promise<Response> | undefined {
  const [input, init] = call as Parameters<Fetch>;
  const passOn: Fetch = (toInput, toInit) => {
    const isSame = toInput === input && toInit === init;
    passing += 1;
    try {
      // Some callers pass more arguments than fetch takes.
      return send(original, self, isSame ? call : [toInput, toInit, ...call.slice(2)]);
    } finally {
      passing -= 1;
    }
  };
  return scope.handleFetch(passOn, input as string | URL | Request, init);
}

function send(original: Fetch, self: unknown, call: readonly unknown[]): Promise<Response> {
  const watch = shareSignalOf(call);
  const go = () => Reflect.apply(original, self, call);
  return watch === undefined ? go() : watch.reveal(go);
}

/**
 * A call that is not captured must see the true state of the signal in its options. Returns the watch of
 * the signal, if captured calls use it, too. A `Request` has a signal of its own, which nothing else shares.
 */
function shareSignalOf([, init]: readonly unknown[]): WatchedSignal | undefined {
  const signal = (init as RequestInit | null | undefined)?.signal;
  if (typeof signal !== 'object' || signal === null) return undefined;
  shareSignal(signal);
  return watchOf(signal);
}
