import type { RequestQueue } from '../model/request-queue.ts';

/** What one item weighs. */
export interface Weight {
  /** The size of the encoded item. */
  readonly bytes: number;
  /** Estimated tokens of its input. */
  readonly tokens: number;
  /** What the provider counts inside of it. */
  readonly units: number;
}

/** What a batch may hold. */
export interface PackLimits {
  readonly items: number;
  /** Missing: one. */
  readonly leastItems?: number;
  readonly bytes: number;
  readonly itemBytes: number;
  /** An item that has more by itself gets a batch of its own: the count is an estimate. */
  readonly tokens: number;
  readonly units: number;
  /** Bytes the format adds around and between this many items. */
  frameBytes(count: number): number;
}

export interface Packed<T> {
  /** Each fits the limits; together they hold every item that fits, once, in order. */
  readonly batches: readonly (readonly T[])[];
  /** Can never be sent, alone or not. */
  readonly tooLarge: readonly T[];
}

/** Packs for a queue, or for what would be one. `tokens`: how many a batch may hold now. */
export function packFor<T extends Weight>(
  { batcher, limits, batchSize }: Pick<RequestQueue, 'batcher' | 'limits' | 'batchSize'>,
  items: readonly T[],
  tokens = Number.POSITIVE_INFINITY,
): Packed<T> {
  return pack(items, {
    ...limits,
    items: batchSize,
    tokens,
    units: limits.units ?? Number.POSITIVE_INFINITY,
    frameBytes: (count) => batcher.frameBytes(count),
  });
}

/** Splits items into batches. Pure; nothing is dropped, doubled or moved. */
export function pack<T extends Weight>(items: readonly T[], limits: PackLimits): Packed<T> {
  const batches: T[][] = [];
  const tooLarge: T[] = [];
  let open: T[] = [];
  let bytes = 0;
  let tokens = 0;
  let units = 0;
  for (const item of items) {
    if (isTooLarge(item, limits)) {
      tooLarge.push(item);
      continue;
    }
    const fits =
      open.length < limits.items &&
      bytes + item.bytes + limits.frameBytes(open.length + 1) <= limits.bytes &&
      tokens + item.tokens <= limits.tokens &&
      units + item.units <= limits.units;
    if (!fits && open.length > 0) {
      batches.push(open);
      open = [];
      bytes = 0;
      tokens = 0;
      units = 0;
    }
    open.push(item);
    bytes += item.bytes;
    tokens += item.tokens;
    units += item.units;
  }
  if (open.length > 0) batches.push(open);
  return { batches: withEnough(batches, limits), tooLarge };
}

/** A last batch of too few gets some of the one before it, from its end, where both are batches then. */
function withEnough<T extends Weight>(batches: T[][], limits: PackLimits): T[][] {
  const { leastItems: least = 1 } = limits;
  const [before, last] = batches.slice(-2);
  if (before === undefined || last === undefined || last.length >= least) return batches;
  const missing = least - last.length;
  const filled = [...before.slice(-missing), ...last];
  const isEnough = before.length - missing >= least && doFit(filled, limits);
  return isEnough ? [...batches.slice(0, -2), before.slice(0, -missing), filled] : batches;
}

function doFit(
  items: readonly Weight[],
  { bytes, tokens, units, frameBytes }: PackLimits,
): boolean {
  const sum = (name: keyof Weight) => items.reduce((total, item) => total + item[name], 0);
  return (
    sum('bytes') + frameBytes(items.length) <= bytes &&
    sum('tokens') <= tokens &&
    sum('units') <= units
  );
}

function isTooLarge({ bytes, units }: Weight, limits: PackLimits): boolean {
  if (bytes > limits.itemBytes || units > limits.units) return true;
  return bytes + limits.frameBytes(1) > limits.bytes;
}
