/**
 * One listener for all who wait on the same signal: with one for each, Node compares every new one with
 * all before it, and warns of a leak at the eleventh.
 */
export class AbortEars<T> {
  readonly #ears = new Map<
    AbortSignal,
    { readonly waiting: Set<T>; readonly listener: () => void }
  >();
  readonly #onAbort: (waiting: ReadonlySet<T>, reason: unknown) => void;

  /** `onAbort` is told once per signal, of all who wait; it is not listened for them any longer. */
  constructor(onAbort: (waiting: ReadonlySet<T>, reason: unknown) => void) {
    this.#onAbort = onAbort;
  }

  listen(signal: AbortSignal, one: T): void {
    let ear = this.#ears.get(signal);
    if (ear === undefined) {
      const waiting = new Set<T>();
      const listener = () => {
        this.#ears.delete(signal);
        this.#onAbort(waiting, signal.reason);
      };
      ear = { waiting, listener };
      this.#ears.set(signal, ear);
      signal.addEventListener('abort', listener, { once: true });
    }
    ear.waiting.add(one);
  }

  /** Nothing happens if the signal has been aborted. */
  forget(signal: AbortSignal, one: T): void {
    const ear = this.#ears.get(signal);
    if (ear === undefined || !ear.waiting.delete(one) || ear.waiting.size > 0) return;
    this.#ears.delete(signal);
    signal.removeEventListener('abort', ear.listener);
  }
}
