import type { Request } from '../model/request.ts';

/** The requests that hold a part of a budget while they are sent. */
export class Reservations {
  /** What to call when each of them has ended. */
  readonly #ends = new Map<Request, () => void>();
  readonly #ended = new Map<Request, Promise<void>>();

  add(request: Request): void {
    this.#ended.set(request, new Promise((resolve) => this.#ends.set(request, resolve)));
  }

  /** Resolves when the next of them has ended; `undefined`: there is none. */
  get next(): Promise<void> | undefined {
    return this.#ended.size === 0 ? undefined : Promise.race(this.#ended.values());
  }

  end(request: Request): void {
    this.#ended.delete(request);
    this.#ends.get(request)?.();
    this.#ends.delete(request);
  }
}
