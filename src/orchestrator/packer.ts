/** What a batch may hold. */
export interface PackLimits {
  readonly items: number;
  readonly bytes: number;
  readonly itemBytes: number;
  /** Bytes the format adds around and between this many items. */
  frameBytes(count: number): number;
}

export interface Packed<T> {
  /** Each fits the limits; together they hold every item that fits, once, in order. */
  readonly batches: readonly (readonly T[])[];
  /** Can never be sent, alone or not. */
  readonly tooLarge: readonly T[];
}

/** Splits items into batches. Pure; nothing is dropped, doubled or moved. */
export function pack<T>(
  items: readonly T[],
  bytesOf: (item: T) => number,
  limits: PackLimits,
): Packed<T> {
  const batches: T[][] = [];
  const tooLarge: T[] = [];
  let open: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (size > limits.itemBytes || size + limits.frameBytes(1) > limits.bytes) {
      tooLarge.push(item);
      continue;
    }
    const full = open.length >= limits.items;
    if (
      full ||
      (open.length > 0 && bytes + size + limits.frameBytes(open.length + 1) > limits.bytes)
    ) {
      batches.push(open);
      open = [];
      bytes = 0;
    }
    open.push(item);
    bytes += size;
  }
  if (open.length > 0) batches.push(open);
  return { batches, tooLarge };
}
