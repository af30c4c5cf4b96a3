/** Room for a number of holders; who comes too late waits in line. */
export class Slots {
  #taken = 0;
  readonly #line: (() => boolean)[] = [];

  /** `limit` is asked anew each time: it may differ per caller and change over time. */
  async acquire(limit: () => number): Promise<void> {
    if (this.#line.length === 0 && this.#taken < limit()) {
      this.#taken += 1;
      return;
    }
    await new Promise<void>((resolve) => {
      this.#line.push(() => {
        if (this.#taken >= limit()) return false;
        this.#taken += 1;
        resolve();
        return true;
      });
    });
  }

  release(): void {
    this.#taken -= 1;
    while (this.#line[0]?.()) this.#line.shift();
  }
}
