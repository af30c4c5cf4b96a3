/** Tells those who wait that something has changed. */
export class Change {
  #waiting: (() => void)[] = [];

  tell(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves with the next change. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
