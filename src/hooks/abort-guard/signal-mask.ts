/** Where Node keeps the signals that an `AbortSignal.any` follows; the symbol is Node's own. */
const sourcesKey = 'kSourceSignals';

type Sources = AbortSignal & { [key: symbol]: Iterable<WeakRef<AbortSignal>> | undefined };

/**
 * Lets a signal that has been aborted look as if it had not.
 *
 * @returns the undo.
 */
export function maskAbort(signal: AbortSignal): () => void {
  Object.defineProperties(signal, {
    aborted: { configurable: true, get: () => false },
    reason: { configurable: true, get: () => undefined },
    throwIfAborted: { configurable: true, value: () => undefined },
  });
  const undoSources = hideSources(signal);
  return () => {
    for (const name of ['aborted', 'reason', 'throwIfAborted'])
      Reflect.deleteProperty(signal, name);
    undoSources();
  };
}

/**
 * Up to Node 22, `AbortSignal.any` dies of a source that is aborted although its signal is not.
 * The sources become an empty set, not `undefined`: Node removes collected sources from it.
 */
function hideSources(signal: AbortSignal): () => void {
  const key = keyOfSources(signal);
  if (key === undefined) return () => undefined;
  const sources = Object.getOwnPropertyDescriptor(signal, key) as PropertyDescriptor;
  Object.defineProperty(signal, key, { configurable: true, writable: true, value: new Set() });
  return () => Object.defineProperty(signal, key, sources);
}

/** The signals that this one was made of by `AbortSignal.any`, as far as Node tells. */
export function sourcesOf(signal: AbortSignal): AbortSignal[] {
  const key = keyOfSources(signal);
  const sources = key && (signal as Sources)[key];
  return [...(sources ?? [])].map((source) => source.deref()).filter((one) => one !== undefined);
}

function keyOfSources(signal: AbortSignal): symbol | undefined {
  return Object.getOwnPropertySymbols(signal).find(({ description }) => description === sourcesKey);
}
