/** Keeps somewhere what is in the way: one write at a time, and the newest list is the last. */
export class NotedTroubles {
  readonly #store: (troubles: readonly string[]) => Promise<void>;
  #newest: readonly string[] = [];
  #writing: Promise<void> | undefined;

  constructor(store: (troubles: readonly string[]) => Promise<void>) {
    this.#store = store;
  }

  note(troubles: readonly string[]): Promise<void> {
    this.#newest = troubles;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(): Promise<void> {
    let written: readonly string[];
    do {
      written = this.#newest;
      await this.#store(written);
    } while (written !== this.#newest);
  }
}
