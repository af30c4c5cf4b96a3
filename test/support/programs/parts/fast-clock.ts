import type { Clock } from '../../../../src/base/types.ts';

/** Time that runs `speed` times faster than ours, the same in every process with the same epoch. */
export interface FastTime {
  readonly epoch: number;
  readonly speed: number;
  /** How far the clock of this machine is off, in milliseconds. */
  readonly offset?: number;
}

export function fastClock({ epoch, speed, offset = 0 }: FastTime): Clock {
  const { now } = Date;
  if (offset !== 0) Date.now = () => now() + offset;
  return {
    now: () => epoch + offset + (now() - epoch) * speed,
    setTimeout: (callback, delay) => setTimeout(callback, delay / speed).unref(),
    clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
  };
}
