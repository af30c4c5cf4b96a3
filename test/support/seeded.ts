/** Numbers that look random and come again with the same seed. */
export interface Seeded {
  readonly seed: number;
  /** From 0 up to, but not including, 1. */
  next(): number;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
}

export function seeded(seed: number): Seeded {
  let state = seed >>> 0;
  // mulberry32
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return { seed, next, between, pick: (items) => items[between(0, items.length - 1)] as never };
}

/** The seed of the environment, or a new one; the caller prints it. */
export function seedFrom(variable: string): number {
  const given = Number(process.env[variable]);
  return Number.isInteger(given) && given > 0 ? given : Math.floor(Math.random() * 2 ** 31) + 1;
}

/**
 * The seed of the properties: the same in every run, so that a red one is the fault of a change. `BATCHLING_PROPERTY_SEED`
 * is another one, or `fresh`, which looks for cases that nobody has seen.
 */
export function propertySeed(): number {
  const { BATCHLING_PROPERTY_SEED: given } = process.env;
  return given === undefined ? 1 : seedFrom('BATCHLING_PROPERTY_SEED');
}
