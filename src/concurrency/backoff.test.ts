import { describe, expect, it } from 'vitest';
import type { Clock } from '../base/types.ts';
import { backoff, parseRetryAfter, sleep } from './backoff.ts';

const now = Date.parse('2025-06-01T12:00:00Z');

function manualClock(): Clock & { fire(): void; pending(): number; delays: number[] } {
  const timers = new Map<number, () => void>();
  const delays: number[] = [];
  return {
    now: () => now,
    setTimeout(callback, milliseconds) {
      delays.push(milliseconds);
      timers.set(delays.length, callback);
      return delays.length;
    },
    clearTimeout: (timer) => void timers.delete(timer as number),
    fire() {
      for (const [id, callback] of timers) {
        timers.delete(id);
        callback();
      }
    },
    pending: () => timers.size,
    delays,
  };
}

describe('backoff', () => {
  it('doubles from the base up to the cap', () => {
    const most = (attempt: number) => backoff({ attempt, base: 100, cap: 1_000, random: () => 1 });
    expect([1, 2, 3, 4, 5, 50, 5_000].map(most)).toEqual([100, 200, 400, 800, 1_000, 1_000, 1_000]);
  });

  it('never waits less than half of the step', () => {
    expect(backoff({ attempt: 3, base: 100, random: () => 0 })).toBe(200);
  });

  it('lets the provider decide, within reason', () => {
    expect(backoff({ attempt: 1, retryAfter: 7_000 })).toBe(7_000);
    expect(backoff({ attempt: 9, retryAfter: 20 })).toBe(20);
    expect(backoff({ attempt: 1, retryAfter: 86_400_000 })).toBe(900_000);
  });

  it('does not fall into a tight loop when the provider says zero', () => {
    expect(backoff({ attempt: 1, base: 100, retryAfter: 0, random: () => 0 })).toBe(50);
  });
});

describe('parseRetryAfter', () => {
  it.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': ' 0.5 ' }, 500],
    [{ 'retry-after': 'Sun, 01 Jun 2025 12:00:09 GMT' }, 9_000],
    [{ 'retry-after': 'Sun, 01 Jun 2025 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'Sunday, 01-Jun-25 12:00:09 GMT' }, 9_000],
    [{ 'retry-after': '3', 'retry-after-ms': '250' }, 250],
    [{ 'retry-after': '3', 'retry-after-ms': 'soon' }, 3_000],
  ])('reads %j as %d ms', (headers, expected) => {
    expect(parseRetryAfter(headers, now)).toBe(expected);
  });

  it.each(['', '-5', '7.5.1', 'soon', 'Xyz, nothing', 'Infinity', '1e9'])(
    'takes %j for nothing',
    (value) => {
      expect(parseRetryAfter({ 'retry-after': value }, now)).toBeUndefined();
    },
  );

  it('finds nothing where no header is', () => {
    expect(parseRetryAfter({}, now)).toBeUndefined();
  });
});

describe('sleep', () => {
  it('ends when its clock says so', async () => {
    const clock = manualClock();
    const pause = sleep(clock, 5_000);
    expect(clock.delays).toEqual([5_000]);
    clock.fire();
    await expect(pause).resolves.toBeUndefined();
  });

  it('rejects with the reason of an abort and leaves no timer', async () => {
    const clock = manualClock();
    const aborter = new AbortController();
    const pause = sleep(clock, 5_000, aborter.signal);
    const reason = new Error('enough');
    aborter.abort(reason);
    await expect(pause).rejects.toBe(reason);
    expect(clock.pending()).toBe(0);
  });

  it('does not begin when the signal is already aborted', async () => {
    const clock = manualClock();
    await expect(sleep(clock, 1, AbortSignal.abort('gone'))).rejects.toBe('gone');
    expect(clock.delays).toEqual([]);
  });

  it('does not fire at once for a delay beyond what a timer can hold', () => {
    const clock = manualClock();
    void sleep(clock, 90 * 86_400_000);
    expect(clock.delays).toEqual([2_147_483_647]);
  });
});
