import { randomUUID } from 'node:crypto';

export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
  /** Shuffles in place. */
  shuffle(items: unknown[]): void;
  restart(): void;
}

/** mulberry32: small, and the same sequence for the same seed on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    shuffle(items) {
      for (let last = items.length - 1; last > 0; last--) {
        const other = Math.floor(next() * (last + 1));
        [items[last], items[other]] = [items[other], items[last]];
      }
    },
    restart() {
      state = seed >>> 0;
    },
  };
}

/**
 * Ids never come from the seed: a client that remembers batch ids of an earlier simulator
 * must get 404 for them, not somebody else's batch.
 */
export function newId(prefix: string): string {
  return prefix + randomUUID().replaceAll('-', '').slice(0, 24);
}
