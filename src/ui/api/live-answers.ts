/** An answer is made anew so seldom that making it takes at most this share of the time. */
const share = 0.01;
/** However slow a ledger is, nobody looks at what is older than this, and than the time that a new answer takes. */
const longestFresh = 5_000;
const mostKept = 50;
/** Times pass although nothing is written, and a ledger may tell of a change late. */
const longestKept = 10_000;

interface Kept {
  readonly answer: Promise<unknown>;
  readonly version: number;
  /** The moment until which the answer serves whatever has been written, and the one after which it does no more. */
  freshUntil: number;
  staleAt: number;
}

/**
 * Answers that many look at again and again while programs are running. However large the ledger and however many the
 * pages that are open, looking costs the machine a hundredth of its time, as long as an answer takes 50 ms at most.
 */
export class LiveAnswers {
  readonly #kept = new Map<string, Kept>();
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** What the page itself has changed is seen at once. */
  forget(): void {
    this.#kept.clear();
  }

  async get<T>(name: string, version: number, make: () => Promise<T>): Promise<T> {
    const now = this.#now();
    const known = this.#kept.get(name);
    const serves =
      known && (known.version === version ? now < known.staleAt : now < known.freshUntil);
    if (serves) return known.answer as Promise<T>;
    const answer = make();
    const kept: Kept = { answer, version, freshUntil: Infinity, staleAt: Infinity };
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
    try {
      const made = await answer;
      const end = this.#now();
      kept.freshUntil = end + Math.min(longestFresh, (end - now) / share);
      kept.staleAt = Math.max(kept.freshUntil, end + longestKept);
      return made;
    } catch (error) {
      this.#kept.delete(name);
      throw error;
    }
  }
}
