import { KeepAlive } from '../../concurrency/keep-alive.ts';

/** Calls of a dry run that are not captured, and wait to be told that they were not sent. */
export class HeldCalls {
  #waiting: (() => void)[] = [];
  readonly #keepAlive = new KeepAlive();
  #kept = 0;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** `keepsAlive`: nothing else does, where the program waits for this call alone. */
  add({ keepsAlive }: { readonly keepsAlive: boolean }): Promise<void> {
    if (keepsAlive) {
      this.#keepAlive.hold();
      this.#kept += 1;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The process may end although calls are held. */
  keepNothingAlive(): void {
    for (; this.#kept > 0; this.#kept -= 1) this.#keepAlive.release();
  }

  letGo(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
