import { hash } from 'node:crypto';

/** Which lines of the input a job takes. */
export interface Selection {
  /** Lines from this number on are not read. */
  readonly limit: number;
  includes(number: number, id: string): boolean;
}

/** The part of `--shard 3/16`. */
export interface Shard {
  /** From 1. */
  readonly index: number;
  readonly count: number;
}

export interface SelectionTerms {
  readonly limit?: number | undefined;
  readonly shard?: Shard | undefined;
  /** Only these lines. */
  readonly only?: { has(line: number): boolean } | undefined;
  /** None of these. */
  readonly without?: ((number: number) => boolean) | undefined;
}

export function selectionOf({ limit, shard, only, without }: SelectionTerms): Selection {
  return {
    limit: limit ?? Number.POSITIVE_INFINITY,
    includes: (number, id) =>
      (only === undefined || only.has(number)) &&
      (shard === undefined || isIn(shard, id)) &&
      !without?.(number),
  };
}

/** By a hash of the id: every machine decides alike, whatever part of the input it has seen. */
function isIn({ index, count }: Shard, id: string): boolean {
  const start = Buffer.from(hash('md5', id, 'hex').slice(0, 8), 'hex').readUInt32BE();
  return start % count === index - 1;
}

/** A few lines at random out of a number of lines that is not known yet; the same seed chooses the same ones. */
export class Sample {
  readonly #size: number;
  readonly #chosen: number[] = [];
  #seen = 0;
  #state: number;

  constructor(size: number, seed: number) {
    this.#size = size;
    this.#state = seed >>> 0;
  }

  /** A line that may be chosen. */
  add(line: number): void {
    this.#seen += 1;
    if (this.#chosen.length < this.#size) {
      this.#chosen.push(line);
      return;
    }
    const place = Math.floor(this.#random() * this.#seen);
    if (place < this.#size) this.#chosen[place] = line;
  }

  get lines(): ReadonlySet<number> {
    return new Set(this.#chosen);
  }

  /** Mulberry32: small, and the same everywhere. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}
