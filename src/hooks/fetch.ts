import { passOnWith } from './deadline-guard.ts';
import { isPatched, patch } from './patch-registry.ts';
import { currentScope, type Fetch } from './state.ts';

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
  return patch(globalThis, 'fetch', wrapFetch);
}

export function isFetchHooked(): boolean {
  return isPatched(globalThis, 'fetch');
}

/** The fetch that leaves the process: below our wrapper, wherever that is. */
export function plainFetch(): Fetch {
  const current: Wrapped = globalThis.fetch;
  return current[inner] ?? current;
}

function wrapFetch(original: Fetch): Fetch {
  const wrapper = function fetch(this: unknown, ...parameters: Parameters<Fetch>) {
    const scope = passing > 0 ? undefined : currentScope();
    if (scope === undefined) return send(original, this, parameters);
    const passOn: Fetch = (input, init) => {
      passing += 1;
      try {
        return send(original, this, [input, init]);
      } finally {
        passing -= 1;
      }
    };
    return scope.handleFetch(passOn, ...(parameters as [string | URL | Request, RequestInit?]));
  };
  // Looks and prints like the original to code that inspects it.
  Object.defineProperties(wrapper, {
    length: { value: original.length, configurable: true },
    name: { value: original.name, configurable: true },
    [inner]: { value: original },
  });
  return wrapper as Fetch;
}

function send(original: Fetch, self: unknown, call: Parameters<Fetch>): Promise<Response> {
  const signal = signalIn(call);
  if (signal === undefined) return Reflect.apply(original, self, call);
  return passOnWith(signal, () => Reflect.apply(original, self, call));
}

/** The signal a call was given. That of a `Request` is one of its own, which nobody shares. */
function signalIn([, init]: Parameters<Fetch>): AbortSignal | undefined {
  try {
    const signal = init?.signal;
    return typeof signal === 'object' && signal !== null ? signal : undefined;
  } catch {
    // An accessor that throws: fetch itself reads it again and rejects.
    return undefined;
  }
}
