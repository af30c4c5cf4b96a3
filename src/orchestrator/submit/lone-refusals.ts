/** So often is a request refused by a limit that the provider names, before that is believed. */
const enough = 3;
/** Refusals that are closer together say the same thing about the same crowd. */
const apart = 5 * 60_000;
/** One or two refusals may be far apart by chance: there was a long line. */
const often = 8;

/**
 * How one request, or one group of them, was refused again and again although nothing else of ours was
 * inside. Kept for each: that others are taken in meanwhile says nothing about a larger one.
 */
export class LoneRefusals {
  readonly #since: number;
  #times = 0;
  #aboveLimit = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(now: number) {
    this.#since = now;
  }

  /** `isAboveLimit`: it is a single request, estimated to be larger than the limit it was told. */
  add(now: number, isAboveLimit: boolean): void {
    this.#times += 1;
    if (!isAboveLimit || now - this.#countedAt < apart) return;
    this.#countedAt = now;
    this.#aboveLimit += 1;
  }

  /** Our figures are estimates: what is a little larger than the limit may fit all the same. */
  get neverFits(): boolean {
    return this.#aboveLimit >= enough;
  }

  haveLasted(milliseconds: number, now: number): boolean {
    return this.#times >= often && now - this.#since > milliseconds;
  }
}
