interface Waiter {
  readonly limit: () => number;
  readonly enter: () => void;
  readonly group: object | undefined;
}

/** Room for a number of holders; who comes too late waits in line. Groups take turns. */
export class Slots {
  #taken = 0;
  #line: Waiter[] = [];
  /** When each group was let in last. Groups that are gone are forgotten with their key. */
  readonly #lastTurn = new WeakMap<object, number>();
  #turns = 0;

  /**
   * `limit` is asked anew each time: it may differ per caller and change over time. Who may share
   * with more others does not wait behind who may share with fewer. An abort ends the waiting.
   * `group`: one that has much to send does not keep the others out.
   */
  acquire(limit: () => number, signal?: AbortSignal, group?: object): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const onAbort = () => {
        this.#line = this.#line.filter((other) => other !== waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter = {
        limit,
        group,
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
    for (let next = this.#next(); next; next = this.#next()) {
      const waiter = next;
      this.#line = this.#line.filter((other) => other !== waiter);
      this.#taken += 1;
      this.#turns += 1;
      if (waiter.group) this.#lastTurn.set(waiter.group, this.#turns);
      waiter.enter();
    }
  }

  /** Of those who may enter, the one whose group has waited longest for a turn. */
  #next(): Waiter | undefined {
    let best: Waiter | undefined;
    let bestTurn = Number.POSITIVE_INFINITY;
    for (const waiter of this.#line) {
      const turn = (waiter.group && this.#lastTurn.get(waiter.group)) ?? 0;
      if (turn >= bestTurn || this.#taken >= waiter.limit()) continue;
      best = waiter;
      bestTurn = turn;
    }
    return best;
  }
}
