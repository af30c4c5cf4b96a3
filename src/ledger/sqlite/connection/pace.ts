const TARGET_MILLISECONDS = 3;
/** Slowly up, at once down: the same rows may take twice as long the next time. */
const MOST_GROWTH = 1.1;

/**
 * How many rows a transaction takes. How long they take depends on the machine, on the rows and on how
 * many pages they lie on, so each transaction says how large the next one may be.
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

  /** A transaction took so long. One of fewer rows than it might have had proves nothing about more. */
  took(milliseconds: number, rows = this.#rows): void {
    const share = Math.min(TARGET_MILLISECONDS / milliseconds, MOST_GROWTH);
    if (share > 1 && rows < this.#rows) return;
    this.#rows = Math.max(this.#least, Math.min(Math.ceil(rows * share), this.#most));
  }
}
