const TARGET_MILLISECONDS = 4;

/**
 * How many rows a slice takes. How long they take depends on the machine, on the rows and on how many
 * pages they lie on, so each slice says how large the next one may be.
 */
export class Pace {
  readonly #most: number;
  readonly #least: number;
  #rows: number;

  constructor({ least, most }: { least: number; most: number }) {
    this.#least = least;
    this.#most = most;
    this.#rows = Math.ceil(Math.sqrt(least * most));
  }

  get rows(): number {
    return this.#rows;
  }

  /** Runs one slice of at most `rows` rows. */
  async slice<T>(work: (rows: number) => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const result = await work(this.#rows);
    const share = TARGET_MILLISECONDS / (performance.now() - startedAt);
    const rows = Math.ceil(this.#rows * Math.min(share, 1.5));
    this.#rows = Math.max(this.#least, Math.min(rows, this.#most));
    return result;
  }
}
