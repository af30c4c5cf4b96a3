import type { Clock } from '../../../src/types.ts';

/** Time that runs `speed` times faster than ours, the same in every process with the same epoch. */
export interface FastTime {
  readonly epoch: number;
  readonly speed: number;
}

export function fastClock({ epoch, speed }: FastTime): Clock {
  return {
    now: () => epoch + (Date.now() - epoch) * speed,
    setTimeout: (callback, delay) => setTimeout(callback, delay / speed).unref(),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
}
