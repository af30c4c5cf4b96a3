import type { Sampling } from '../model/sampling.ts';

/** Tells calls that ask the same apart: each is another sample. */
export interface OccurrenceCount {
  /** The occurrence of the next call, from 0 on. `key` is the fingerprint, a character per byte. */
  next(key: string, sampling?: Sampling): number;
  /** Nobody has been told its answer: the next call may have it. */
  giveBack(key: string, occurrence: number, sampling?: Sampling): void;
  /** A call waits for one that it knows from before. */
  begun?(key: string, occurrence: number): void;
  /** Nobody waits for it any more. */
  ended?(key: string, occurrence: number): void;
}

const emptySlots = 1024;
/** Beyond this share of the slots, look-ups grow long. */
const fullest = 0.7;
/** Beyond it the oldest that were given back are forgotten: a call that asks then gets a new one. */
const mostGivenBack = 10_000;

/**
 * How often a run has asked each fingerprint. A run of millions asks millions of them, so a count is
 * twelve bytes and not a string in a map: 64 bits of the hash tell them apart, as they tell lines of a
 * batch apart.
 */
export class Occurrences implements OccurrenceCount {
  #high = new Uint32Array(emptySlots);
  #low = new Uint32Array(emptySlots);
  #counts = new Uint32Array(emptySlots);
  #used = 0;
  readonly #givenBack = new Map<string, number[]>();

  next(key: string): number {
    const free = this.#givenBack.get(key);
    if (free === undefined) return this.#count(key);
    const occurrence = free.pop() as number;
    if (free.length === 0) this.#givenBack.delete(key);
    return occurrence;
  }

  /** The newest one; `undefined`: none was asked for. */
  last(key: string): number | undefined {
    const asked = this.#counts[this.#find(word(key, 0), word(key, 4))] as number;
    return asked === 0 ? undefined : asked - 1;
  }

  giveBack(key: string, occurrence: number): void {
    const free = this.#givenBack.get(key);
    if (free) {
      free.push(occurrence);
      return;
    }
    this.#givenBack.set(key, [occurrence]);
    if (this.#givenBack.size <= mostGivenBack) return;
    const [oldest] = this.#givenBack.keys();
    this.#givenBack.delete(oldest as string);
  }

  #count(key: string): number {
    if (this.#used > this.#counts.length * fullest) this.#grow();
    const high = word(key, 0);
    const low = word(key, 4);
    const slot = this.#find(high, low);
    const asked = this.#counts[slot] as number;
    if (asked === 0) {
      this.#high[slot] = high;
      this.#low[slot] = low;
      this.#used += 1;
    }
    this.#counts[slot] = asked + 1;
    return asked;
  }

  /** Where it is, or the free slot where it belongs. Hashes need no further mixing. */
  #find(high: number, low: number): number {
    const mask = this.#counts.length - 1;
    let slot = low & mask;
    while (this.#counts[slot] !== 0 && (this.#high[slot] !== high || this.#low[slot] !== low)) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  #grow(): void {
    const [highs, lows, counts] = [this.#high, this.#low, this.#counts];
    const size = counts.length * 2;
    this.#high = new Uint32Array(size);
    this.#low = new Uint32Array(size);
    this.#counts = new Uint32Array(size);
    for (let at = 0; at < counts.length; at += 1) {
      const count = counts[at] as number;
      if (count === 0) continue;
      const slot = this.#find(highs[at] as number, lows[at] as number);
      this.#high[slot] = highs[at] as number;
      this.#low[slot] = lows[at] as number;
      this.#counts[slot] = count;
    }
  }
}

function word(key: string, at: number): number {
  return (
    (key.charCodeAt(at) |
      (key.charCodeAt(at + 1) << 8) |
      (key.charCodeAt(at + 2) << 16) |
      (key.charCodeAt(at + 3) << 24)) >>>
    0
  );
}
