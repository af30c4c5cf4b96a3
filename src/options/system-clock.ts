import { longestTimer } from '../http/backoff.ts';
import type { Clock } from '../types.ts';

/**
 * Wall time that never goes back: while the system clock is behind what it has shown already, the
 * monotonic clock goes on in its place. A jump forward is believed: a laptop that slept has slept.
 */
export function steadyTime(wall: () => number, monotonic: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  let lastAt = 0;
  return () => {
    const at = monotonic();
    // Not less than nothing: fake timers of a test may replace either clock at any time.
    last = Math.max(wall(), last + Math.max(0, at - lastAt));
    lastAt = at;
    return Math.floor(last);
  };
}

export const systemClock: Clock = {
  now: steadyTime(
    () => Date.now(),
    () => performance.now(),
  ),
  // A longer one would fire at once; who waits longer looks at the clock and waits again.
  // None of them holds the process: a waiting caller does.
  setTimeout: (callback, delay) => setTimeout(callback, Math.min(delay, longestTimer)).unref(),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** Less is not a jump of the system clock. */
const leastJump = 1_000;

/** How far this clock is ahead of the system clock, because that was set back. */
export function aheadOfWall(clock: Clock): number {
  if (clock !== systemClock) return 0;
  const ahead = clock.now() - Date.now();
  return ahead < leastJump ? 0 : ahead;
}
