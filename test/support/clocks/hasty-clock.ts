import type { Clock } from '../../../src/index.ts';

/** Real time, except that waits of exactly so long pass when the test says so. */
export function hastyClock(milliseconds: number) {
  const held = new Set<() => void>();
  const clock: Clock = {
    now: () => Date.now(),
    setTimeout: (callback, delay) => {
      if (delay !== milliseconds) return setTimeout(callback, delay).unref();
      held.add(callback);
      return callback;
    },
    clearTimeout: (timer) => {
      if (!held.delete(timer as () => void)) clearTimeout(timer as NodeJS.Timeout);
    },
  };
  const pass = () => {
    for (const callback of [...held]) {
      held.delete(callback);
      callback();
    }
  };
  return { clock, pass, isWaitedFor: () => held.size > 0 };
}
