/** Ids of a window: from the first one up to, but not with, the second. */
export type IdWindow = readonly [from: number, before: number];

/** A slice that took longer than this makes the next one smaller. */
const longSlice = 4;
const smallest = 500;
const largest = 100_000;

/**
 * Walks down the ids below `before`, in windows that are as large as a few milliseconds of work. `look` returns
 * true when it has seen enough. Returns where it stopped: everything from there on was looked at. `patience`: milliseconds in
 * all.
 */
export async function walkDown(
  before: number,
  patience: number,
  look: (window: IdWindow) => Promise<boolean>,
): Promise<number> {
  const startedAt = performance.now();
  let end = before;
  let size = smallest * 4;
  while (end > 1) {
    const from = Math.max(1, end - size);
    const sliceAt = performance.now();
    if (await look([from, end])) return from;
    end = from;
    const now = performance.now();
    if (now - startedAt > patience) break;
    size = now - sliceAt > longSlice ? size / 2 : size * 2;
    size = Math.min(largest, Math.max(smallest, Math.round(size)));
  }
  return end;
}
