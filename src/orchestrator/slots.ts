interface Waiter {
  readonly limit: () => number;
  readonly enter: () => void;
}

/** Room for a number of holders; who comes too late waits in line. */
export class Slots {
  #taken = 0;
  #line: Waiter[] = [];

  /**
   * `limit` is asked anew each time: it may differ per caller and change over time. Who may share
   * with more others does not wait behind who may share with fewer. An abort ends the waiting.
   */
  acquire(limit: () => number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const onAbort = () => {
        this.#line = this.#line.filter((other) => other !== waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        limit,
        enter: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#line.push(waiter);
      this.#letIn();
    });
  }

  /** For one that is inside already, whether there is room or not. */
  occupy(): void {
    this.#taken += 1;
  }

  release(): void {
    this.#taken -= 1;
    this.#letIn();
  }

  #letIn(): void {
    this.#line = this.#line.filter(({ limit, enter }) => {
      if (this.#taken >= limit()) return true;
      this.#taken += 1;
      enter();
      return false;
    });
  }
}
