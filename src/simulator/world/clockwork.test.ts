import { expect, it } from 'vitest';
import { createClockwork } from './clockwork.ts';

/** Time that moves by hand. */
function handClock() {
  const timers = new Map<number, () => void>();
  let now = 0;
  let next = 0;
  return {
    now: () => now,
    setTimeout(callback: () => void, milliseconds: number) {
      next += 1;
      timers.set(next, () => now >= milliseconds && callback());
      return next;
    },
    clearTimeout: (timer: unknown) => timers.delete(timer as number),
    moveTo(time: number) {
      now = time;
      for (const look of timers.values()) look();
    },
    get waiting() {
      return timers.size;
    },
  };
}

it('lives in the time it was given', async () => {
  const clock = handClock();
  const clockwork = createClockwork(clock);
  let slept = false;
  const sleeping = clockwork.sleep(1_000).then(() => {
    slept = true;
  });
  clock.moveTo(999);
  await clockwork.turn();
  expect(slept).toBe(false);
  clock.moveTo(1_000);
  await sleeping;
  expect(clockwork.now()).toBe(1_000);
});

it('leaves no timer behind when it is stopped', () => {
  const clock = handClock();
  const clockwork = createClockwork(clock);
  void clockwork.sleep(1_000);
  expect(clock.waiting).toBe(1);
  clockwork.stop();
  expect(clock.waiting).toBe(0);
});
