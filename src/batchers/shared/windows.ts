import type { CompletionWindow } from '../batcher.ts';

/** Windows of whole days up to this many, in hours as providers write them, at half the price. */
export function daysUpTo(most: number): Record<string, CompletionWindow> {
  const days = Array.from({ length: most }, (_, index) => index + 1);
  const window = (day: number) => ({ word: `${day * 24}h`, priceShare: 0.5 });
  return Object.fromEntries(days.map((day) => [day === 1 ? '24h' : `${day}d`, window(day)]));
}
