const ITEMS_AT_ONCE = 1_000;
const CHARACTERS_AT_ONCE = 4_000_000;

/** Runs `work` on slices, one after the other. For no items it runs once, with none. */
export async function inSlices<T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  work: (slice: readonly T[], isLast: boolean) => Promise<void>,
): Promise<void> {
  let start = 0;
  do {
    let end = start;
    let characters = 0;
    while (end < items.length && end - start < ITEMS_AT_ONCE) {
      characters += sizeOf(items[end] as T);
      if (characters > CHARACTERS_AT_ONCE && end > start) break;
      end += 1;
    }
    await work(items.slice(start, end), end === items.length);
    start = end;
  } while (start < items.length);
}
