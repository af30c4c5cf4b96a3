import { passOnWith } from '../abort-guard/abort-guard.ts';
import { isPatched, patch } from '../patch-registry.ts';
import { currentScope, type Fetch, type HookScope } from '../state.ts';

/** The wrapper knows what it wraps, so that `scope.fetch` can go around it. */
const inner = Symbol.for('batchling.fetch.inner');

/** Raised while a call is passed on: a wrapper of ours further down need not ask again. */
let passing = 0;

type Wrapped = Fetch & { [inner]?: Fetch };

/**
 * Replaces `globalThis.fetch` by a wrapper that asks for the current scope and otherwise passes
 * everything on as it came. Idempotent: wrapping again happens only around somebody else's fetch.
 *
 * @returns the undo.
 */
export function hookFetch(): () => void {
  // Node can be started without it.
  if (typeof globalThis.fetch !== 'function') return () => undefined;
  return patch(globalThis, 'fetch', wrapFetch, 'globalThis.fetch');
}

export function isFetchHooked(): boolean {
  return typeof globalThis.fetch !== 'function' || isPatched(globalThis, 'fetch');
}

/** The fetch that leaves the process: below our wrapper, wherever that is. */
export function plainFetch(): Fetch {
  const current: Wrapped = globalThis.fetch;
  // Its own: somebody else's wrapper may inherit from ours, and is not to be gone around.
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

/** Lets the scope decide; what it lets out goes on with all arguments as they came. */
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
      // There may be more of them than fetch itself takes.
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
  return passOnWith(signal, () => Reflect.apply(original, self, call));
}

/** The signal a call was given. That of a `Request` is one of its own, which nobody shares. */
function signalIn([, init]: readonly unknown[]): AbortSignal | undefined {
  try {
    const signal = (init as RequestInit | undefined)?.signal;
    return typeof signal === 'object' && signal !== null ? signal : undefined;
  } catch {
    // An accessor that throws: fetch itself reads it again and rejects.
    return undefined;
  }
}
