/** Works on all items, so many at a time; the results are in the order of the items. */
export async function inLanes<T, R>(
  items: readonly T[],
  lanes: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let at = 0;
  async function lane(): Promise<void> {
    while (at < items.length) {
      const mine = at;
      at += 1;
      results[mine] = await work(items[mine] as T);
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}
