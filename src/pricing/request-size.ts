import type { Expectation } from './expectation.ts';

/** What is known of the cost of a request before it is sent. */
export interface RequestSize {
  /** Estimated tokens of its input. */
  readonly tokens: number;
  readonly expects: Expectation;
}

/** Requests that cost the same. */
export interface SameSize extends RequestSize {
  count: number;
}

/** Thousands of requests of a batch have a few hundred sizes: each of these is priced once. */
export function sameSizes(requests: Iterable<RequestSize>): readonly SameSize[] {
  const found: SameSize[] = [];
  const known = new Map<Expectation, Map<number, SameSize>>();
  for (const { tokens, expects } of requests) {
    let sizes = known.get(expects);
    if (sizes === undefined) {
      sizes = new Map();
      known.set(expects, sizes);
    }
    const same = sizes.get(tokens);
    if (same) {
      same.count += 1;
      continue;
    }
    const size = { tokens, expects, count: 1 };
    sizes.set(tokens, size);
    found.push(size);
  }
  return found;
}
