import type { Caller } from '../model/caller.ts';

/** Beyond it the oldest answered ones are forgotten: nobody came back for them. */
const mostAnswered = 10_000;

interface Left {
  readonly key: string;
  readonly occurrence: number;
}

/**
 * Requests whose client gave up: from then on, until that client has read the answer all the same, or
 * somebody asks the same again and takes its place. However late: a batch takes hours. Kept for the
 * run, beside the count of occurrences: a client may try again in a scope of its own.
 */
export class AbandonedRequests {
  /** They are kept by fingerprint, the oldest first. */
  readonly #left = new Map<string, Set<Left>>();
  readonly #ofCaller = new WeakMap<Caller, Left>();
  readonly #answered = new Set<Left>();

  add(caller: Caller, key: string, occurrence: number): void {
    const left = { key, occurrence };
    this.#ofCaller.set(caller, left);
    const all = this.#left.get(key);
    if (all) all.add(left);
    else this.#left.set(key, new Set([left]));
  }

  /** The client has come to its answer after all: the next call that asks the same wants another sample. */
  read(caller: Caller): void {
    const left = this.#ofCaller.get(caller);
    if (left) this.#forget(left);
  }

  /** It waits for nothing any more but its client. */
  ended(caller: Caller): void {
    const left = this.#ofCaller.get(caller);
    if (!left || !this.#left.get(left.key)?.has(left)) return;
    this.#answered.add(left);
    if (this.#answered.size <= mostAnswered) return;
    const [oldest] = this.#answered;
    this.#forget(oldest as Left);
  }

  /** The oldest one, or the one with this occurrence, for the client that has come back. */
  take(key: string, occurrence?: number): number | undefined {
    // The text of a key that nobody looks up is never hashed.
    if (this.#left.size === 0) return undefined;
    for (const left of this.#left.get(key) ?? []) {
      if (occurrence !== undefined && left.occurrence !== occurrence) continue;
      this.#forget(left);
      return left.occurrence;
    }
    return undefined;
  }

  #forget(left: Left): void {
    this.#answered.delete(left);
    const all = this.#left.get(left.key);
    all?.delete(left);
    if (all?.size === 0) this.#left.delete(left.key);
  }
}
