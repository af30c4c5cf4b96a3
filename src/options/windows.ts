import { formatDuration } from '../duration.ts';
import { Refused } from './form.ts';

interface Sourced {
  /** The larger, the closer to the user. */
  readonly rank: number;
  readonly value: number;
}

/**
 * A queue's `window` never exceeds its `maxWindow`. Asked for in one place, the contradiction is
 * the user's error; otherwise the one asked for more closely bends the other.
 */
export function fitWindows(window: Sourced, maxWindow: Sourced): readonly [number, number] {
  if (window.value <= maxWindow.value) return [window.value, maxWindow.value];
  if (window.rank === maxWindow.rank) {
    const detail = `shorter than window, ${formatDuration(window.value)}`;
    throw new Refused(formatDuration(maxWindow.value), detail);
  }
  const fitting = window.rank > maxWindow.rank ? window.value : maxWindow.value;
  return [fitting, fitting];
}
