/**
 * A timer's abort that a signal does not show yet, because captured calls use the signal. An abort
 * that could be held back has not happened; one that could not is masked.
 */
export class DeferredAbort {
  readonly #signal: AbortSignal;
  /** The abort that was held back; `undefined`: the signal is aborted already. */
  #abort: (() => void) | undefined;
  #unmask: (() => void) | undefined;
  #delivered = false;

  /** Without `abort`, the signal is calling its listeners: those after ours must see the truth, too. */
  constructor(signal: AbortSignal, abort?: () => void) {
    this.#signal = signal;
    this.#abort = abort;
    if (abort === undefined) process.nextTick(() => this.#mask());
  }

  get isHeldBack(): boolean {
    return this.#abort !== undefined;
  }

  /** Runs `send` while the signal shows that it is aborted. */
  reveal<T>(send: () => T): T {
    this.#show();
    try {
      return send();
    } finally {
      this.#mask();
    }
  }

  deliver(): void {
    this.#delivered = true;
    this.#show();
  }

  #show(): void {
    const abort = this.#abort;
    this.#abort = undefined;
    abort?.();
    this.#unmask?.();
    this.#unmask = undefined;
  }

  #mask(): void {
    if (!this.#delivered) this.#unmask ??= maskAbort(this.#signal);
  }
}

/**
 * Makes an aborted signal look as if it were not aborted.
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

/** The description of Node's own symbol for the signals that an `AbortSignal.any` follows. */
const sourcesKey = 'kSourceSignals';

type Sources = AbortSignal & { [key: symbol]: Iterable<WeakRef<AbortSignal>> | undefined };

/**
 * Up to Node 22, `AbortSignal.any` fails on a source that is aborted although its signal is not.
 * The sources become an empty set, not `undefined`: Node removes collected sources from it.
 */
function hideSources(signal: AbortSignal): () => void {
  const key = keyOfSources(signal);
  if (key === undefined) return () => undefined;
  const sources = Object.getOwnPropertyDescriptor(signal, key) as PropertyDescriptor;
  Object.defineProperty(signal, key, { configurable: true, writable: true, value: new Set() });
  return () => Object.defineProperty(signal, key, sources);
}

/** The signals that `AbortSignal.any` made this one of, as far as Node exposes them. */
export function sourcesOf(signal: AbortSignal): AbortSignal[] {
  const key = keyOfSources(signal);
  const sources = key && (signal as Sources)[key];
  return [...(sources ?? [])].map((source) => source.deref()).filter((one) => one !== undefined);
}

function keyOfSources(signal: AbortSignal): symbol | undefined {
  return Object.getOwnPropertySymbols(signal).find(({ description }) => description === sourcesKey);
}
