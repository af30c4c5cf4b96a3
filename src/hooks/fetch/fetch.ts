import { sendWithSignal } from '../abort-guard/abort-guard.ts';
import { isPatched, patch } from '../patch-registry.ts';
import { currentScope, type Fetch, type HookScope } from '../state.ts';

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
  const wrapper = function fetch(this: unknown, ...parameters: Parameters<Fetch>) {
    const scope = passing > 0 ? undefined : currentScope();
    if (scope === undefined) return send(original, this, parameters);
    return askScope(scope, original, this, parameters);
  };
  Object.defineProperty(wrapper, inner, { value: original });
  return wrapper;
}

/** Hands a call to the scope; a call that the scope passes on keeps all its arguments. */
export function askScope(
  scope: HookScope,
  original: Fetch,
  self: unknown,
  parameters: Parameters<Fetch>,
): Promise<Response> {
  const [input, init] = parameters;
  const passOn: Fetch = (toInput, toInit) => {
    const isSame = toInput === input && toInit === init;
    passing += 1;
    try {
      // Some callers pass more arguments than fetch takes.
      const values = isSame ? parameters : [toInput, toInit, ...parameters.slice(2)];
      return send(original, self, values);
    } finally {
      passing -= 1;
    }
  };
  return scope.handleFetch(passOn, input as string | URL | Request, init);
}

function send(original: Fetch, self: unknown, call: readonly unknown[]): Promise<Response> {
  const signal = signalIn(call);
  if (signal === undefined) return Reflect.apply(original, self, call);
  return sendWithSignal(signal, () => Reflect.apply(original, self, call));
}

/** The signal in the options. A `Request` has a signal of its own, which nothing else shares. */
function signalIn([, init]: readonly unknown[]): AbortSignal | undefined {
  try {
    const signal = (init as RequestInit | undefined)?.signal;
    return typeof signal === 'object' && signal !== null ? signal : undefined;
  } catch {
    // An accessor that throws: fetch reads it again and rejects.
    return undefined;
  }
}
