import { describe, expect, it } from 'vitest';
import { steadyTime } from './system-clock.ts';

function clocks() {
  const time = { wall: 1_000_000, monotonic: 500 };
  const now = steadyTime(
    () => time.wall,
    () => time.monotonic,
  );
  const pass = (milliseconds: number) => {
    time.wall += milliseconds;
    time.monotonic += milliseconds;
    return now();
  };
  return { time, now, pass };
}

describe('steady time', () => {
  it('is wall time as long as that goes forward', () => {
    const { pass, now } = clocks();
    expect(now()).toBe(1_000_000);
    expect(pass(250)).toBe(1_000_250);
    expect(pass(0)).toBe(1_000_250);
  });

  it('goes on at its pace when the system clock is set back', () => {
    const { time, pass, now } = clocks();
    now();
    time.wall -= 3_600_000;
    expect(now()).toBe(1_000_000);
    expect(pass(400)).toBe(1_000_400);
    expect(pass(600)).toBe(1_001_000);
  });

  it('is wall time again once that has caught up', () => {
    const { time, pass, now } = clocks();
    now();
    time.wall -= 10_000;
    expect(pass(1_000)).toBe(1_001_000);
    time.wall += 12_000;
    expect(now()).toBe(1_003_000);
  });

  it('believes a jump forward', () => {
    const { time, pass, now } = clocks();
    now();
    time.wall += 7_200_000;
    expect(pass(5)).toBe(8_200_005);
  });

  it('does not go back when the monotonic clock is replaced', () => {
    const { time, pass, now } = clocks();
    now();
    Object.assign(time, { wall: 0, monotonic: 0 });
    expect(now()).toBe(1_000_000);
    expect(pass(300)).toBe(1_000_300);
  });

  it('is a whole number, and loses no fraction on the way', () => {
    const { time, now } = clocks();
    now();
    time.wall = 0;
    for (let step = 0; step < 10; step += 1) {
      time.monotonic += 0.25;
      now();
    }
    expect(now()).toBe(1_000_002);
  });
});
