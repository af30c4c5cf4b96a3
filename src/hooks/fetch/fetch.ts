import type { Fetch, HookScope } from '../border.ts';
import { isPatched, patch } from '../patch-registry.ts';
import { currentScope } from '../state.ts';
import { FetchCall, isPassing, sendShared, shareSignalOf } from './fetch-call.ts';
import { readOnce } from './read-call.ts';

/** Names the wrapped function on the wrapper, so that `scope.fetch` can go around the wrapper. */
const inner = Symbol.for('batchling.fetch.inner');

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

/** A `fetch` that hands all its calls to one scope. */
export function fetchOf(scope: HookScope): Fetch {
  return (...given) => {
    const original = plainFetch();
    const handled = scope.handle(new FetchCall(original, undefined, given));
    return handled ?? sendShared(original, undefined, given);
  };
}

function wrapFetch(original: Fetch): Fetch {
  // What is not captured leaves from here: each function in between would be a frame in the caller's stack.
  const wrapper = function fetch(this: unknown, ...all: Parameters<Fetch>) {
    const scope = isPassing() ? undefined : currentScope();
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
