import { describe, expect, it } from 'vitest';
import type { BatchTime } from '../../ledger/ledger.ts';
import { slownessOf, typicalTimes } from './batch-times.ts';

const minute = 60_000;
const hour = 60 * minute;

let tokens = 0;

/** A batch that was sent this long ago, and has ended unless it has no duration. */
function time(age: number, duration?: number, more: Partial<BatchTime> = {}): BatchTime {
  tokens += 1;
  const ended = duration !== undefined && { duration };
  return {
    token: `bl_${tokens}`,
    provider: 'openai',
    model: 'm',
    count: 5,
    age,
    ...ended,
    ...more,
  };
}

const past = (...durations: readonly number[]) => durations.map((one) => time(100 * hour, one));
const batch = (age: number, count = 5) => ({ token: 'bl_it', count, age });

describe('a typical time', () => {
  it('is the median of finished batches, by model', () => {
    const times = [
      ...past(5, 500, 7, 6, 4),
      time(9, 9, { model: 'other' }),
      time(9, undefined, { model: 'other' }),
      time(9, 0, { model: 'other' }),
      time(9, undefined, { model: 'running' }),
    ];
    expect(typicalTimes(times)).toEqual([
      { provider: 'openai', model: 'm', duration: 6 },
      { provider: 'openai', model: 'other', duration: 9 },
    ]);
  });
});

describe('a batch is slow', () => {
  const usual = past(10 * minute, 20 * minute, 30 * minute);

  it('at three times what nine of ten took', () => {
    expect(slownessOf(batch(90 * minute - 1), usual)).toBeUndefined();
    expect(slownessOf(batch(90 * minute), usual)).toEqual({
      kind: 'slow',
      age: 90 * minute,
      usual: 30 * minute,
    });
  });

  it('not before an hour, however fast others were', () => {
    const fast = past(minute, minute, minute);
    expect(slownessOf(batch(hour - 1), fast)).toBeUndefined();
    expect(slownessOf(batch(hour), fast)).toMatchObject({ kind: 'slow', usual: minute });
  });

  it('by the 90th percentile, which one slow batch of ten does not move', () => {
    const nine = Array.from({ length: 9 }, () => 20 * minute);
    expect(slownessOf(batch(hour), past(...nine, 20 * hour))?.usual).toBe(20 * minute);
    expect(slownessOf(batch(hour), past(...nine, 20 * hour, 20 * hour))).toBeUndefined();
  });

  it('by batches of its own size alone', () => {
    expect(slownessOf(batch(9 * hour, 10), usual)).toBeUndefined();
    expect(slownessOf(batch(9 * hour, 9), usual)).toBeDefined();
  });

  it('not where fewer than three are known, or where it is known itself only', () => {
    expect(slownessOf(batch(9 * hour), usual.slice(1))).toBeUndefined();
    const itself = { ...time(9 * hour, minute), token: 'bl_it' };
    expect(slownessOf(batch(9 * hour), [itself, itself, itself])).toBeUndefined();
  });

  it.each<[string, BatchTime[], string]>([
    ['one that was sent after it has ended', [time(2 * hour, minute)], 'stuck'],
    ['one of another size was sent after it and has ended', [time(1, 1, { count: 99 })], 'stuck'],
    ['one that was sent with it has ended', [time(3 * hour + 30_000, minute)], 'stuck'],
    [
      'one that was sent long before it has ended since',
      [time(4 * hour, 2 * hour, { count: 99 })],
      'slow',
    ],
    ['one that was sent just before it had ended by then', [time(3 * hour + 9, 9)], 'slow'],
    ['another one is under way for long, too', [time(hour)], 'provider'],
    ['another one was just sent', [time(minute)], 'slow'],
    ['some have ended, others have not', [time(hour), time(2 * hour, minute)], 'stuck'],
  ])('%s', (_when, others, kind) => {
    expect(slownessOf(batch(3 * hour), [...usual, ...others])?.kind).toBe(kind);
  });
});
