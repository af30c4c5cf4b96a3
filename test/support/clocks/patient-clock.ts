import type { Clock } from '../../../src/index.ts';

/** Hours pass when the test says so; everything short runs in real time. */
export function patientClock() {
  const held = new Set<() => void>();
  let skipped = 0;
  const clock: Clock = {
    now: () => Date.now() + skipped,
    setTimeout: (callback, delay) => {
      if (delay < 60_000) return setTimeout(callback, delay).unref();
      held.add(callback);
      return callback;
    },
    clearTimeout: (timer) => {
      if (!held.delete(timer as () => void)) clearTimeout(timer as NodeJS.Timeout);
    },
  };
  const skipHours = (hours: number) => {
    skipped += hours * 3_600_000;
    for (const callback of [...held]) {
      held.delete(callback);
      callback();
    }
  };
  /** Whether anything waits for hours to pass. */
  const isWaitedFor = () => held.size > 0;
  return { clock, skipHours, isWaitedFor };
}
