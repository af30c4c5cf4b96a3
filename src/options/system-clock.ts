import { longestTimer } from '../base/duration.ts';
import type { Clock } from '../base/types.ts';

/**
 * Wall time that never goes back: after the system clock was set back, the monotonic clock continues
 * until the system clock has caught up. A jump forward is accepted: a laptop may have slept.
 */
export function steadyTime(wall: () => number, monotonic: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  let lastAt = 0;
  return () => {
    const at = monotonic();
    // At least 0: fake timers of a test may replace either clock at any time.
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
  wall: () => Date.now(),
  // Node fires longer timers at once; code that waits longer checks the clock and waits again.
  // A timer does not keep the process alive: a waiting caller does.
  setTimeout: (callback, delay) => setTimeout(callback, Math.min(delay, longestTimer)).unref(),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

/** A smaller difference is not a jump of the system clock. */
const leastJump = 1_000;

/** How far this clock is ahead of a system clock that was set back. */
export function aheadOfWall(clock: Clock): number {
  if (clock.wall === undefined) return 0;
  const ahead = clock.now() - clock.wall();
  return ahead < leastJump ? 0 : ahead;
}
