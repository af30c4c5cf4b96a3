import { maskAbort } from './signal-mask.ts';

/**
 * An abort by a timer that a signal does not show yet, because captured calls use it. An abort that
 * could be held back has not happened; one that could not is masked.
 */
export class DeferredAbort {
  readonly #signal: AbortSignal;
  /** Does what was held back. */
  #abort: (() => void) | undefined;
  #unmask: (() => void) | undefined;
  #delivered = false;

  /** Without `abort`, listeners are being told right now: those behind ours must see the truth, too. */
  constructor(signal: AbortSignal, abort?: () => void) {
    this.#signal = signal;
    this.#abort = abort;
    if (abort === undefined) process.nextTick(() => this.#mask());
  }

  get isHeldBack(): boolean {
    return this.#abort !== undefined;
  }

  /** Runs `send` while the signal is aborted for everyone to see. */
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
