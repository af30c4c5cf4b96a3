import type { CompletionWindow } from '../batcher.ts';

/** Windows of whole days up to this many, in the provider's words for them: hours, as a rule. */
export function daysUpTo(
  most: number,
  word = (days: number) => `${days * 24}h`,
  priceShare = 0.5,
): Record<string, CompletionWindow> {
  const windows = Array.from({ length: most }, (_, index) => [
    index === 0 ? '24h' : `${index + 1}d`,
    { word: word(index + 1), priceShare },
  ]);
  return Object.fromEntries(windows);
}
