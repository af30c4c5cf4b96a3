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
   * with more others does not wait behind who may share with fewer.
   */
  acquire(limit: () => number): Promise<void> {
    return new Promise((enter) => {
      this.#line.push({ limit, enter });
      this.#letIn();
    });
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
