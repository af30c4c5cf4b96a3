import type { CachePrefix } from './expectation.ts';
import type { ModelPrice, Terms } from './model-price.ts';

/** Dollars. A smaller saving is not worth the time of another batch. */
const leastSaving = 0.1;

/** What the shared beginning of requests costs each of them, in dollars: as plain input, written to the cache, read from it. */
export interface PrimingValue {
  readonly plain: number;
  readonly write: number;
  readonly read: number;
}

/** `undefined`: no price is known. */
export function primingValue(
  { price, terms }: { readonly price: ModelPrice; readonly terms: Terms },
  { tokens, hourTokens }: CachePrefix,
): PrimingValue | undefined {
  const inputTokens = tokens + hourTokens;
  const usage = { inputTokens, outputTokens: 0 };
  const written = { ...usage, cacheWriteTokens: tokens, cacheWrite1hTokens: hourTokens };
  const plain = price.charge(usage, terms)?.paid;
  const write = price.charge(written, terms)?.paid;
  const read = price.charge({ ...usage, cacheReadTokens: inputTokens }, terms)?.paid;
  if (plain === undefined || write === undefined || read === undefined) return undefined;
  return { plain, write, read };
}

/** The dollars that a primer saves against requests without a cache, if each of the others reads what it has written. */
export function savingOf({ plain, write, read }: PrimingValue, others: number): number {
  return others * (plain - read) - write;
}

/** Whether so many others are worth a primer. */
export function isWorthPriming(value: PrimingValue, others: number): boolean {
  return savingOf(value, others) >= leastSaving;
}

/** The share of requests that have to read the cache so that writing it pays. */
export function shareThatPays({ plain, write, read }: PrimingValue): number {
  return write > read ? (write - plain) / (write - read) : 1;
}
