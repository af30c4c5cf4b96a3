import { describe, expect, it } from 'vitest';
import fc from '../../test/support/fast-check.ts';
import { formatDuration, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    [0, 0],
    [250, 250],
    [0.5, 0.5],
    ['250', 250],
    ['250ms', 250],
    ['2s', 2000],
    [' 2 s ', 2000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
    ['1.5h', 5_400_000],
    ['1.1h', 3_960_000],
    ['1m 30s', 90_000],
    ['1h30m', 5_400_000],
  ])('reads %j as %d ms', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '-1s',
    '',
    's',
    '5w',
    '5 minutes',
    '5S',
    '1e3ms',
    '5s,',
    '5s 5',
    '1..2s',
    'Infinity',
    `${'9'.repeat(400)}d`,
  ])('refuses %j and says what is allowed', (value) => {
    expect(() => parseDuration(value)).toThrow(RangeError);
    expect(() => parseDuration(value)).toThrow('"250ms", "2s", "5m", "24h", "30d"');
  });

  it.each([null, true, {}, 5n])('refuses %s, which is neither a number nor text', (value) => {
    expect(() => parseDuration(value as unknown as number)).toThrow(TypeError);
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0ms'],
    [250, '250ms'],
    [999.6, '1s'],
    [1000, '1s'],
    [1500, '1.5s'],
    [5000, '5s'],
    [59_960, '1m'],
    [90_000, '1m 30s'],
    [3_599_700, '1h'],
    [3_661_000, '1h 1m'],
    [86_400_000, '24h'],
    [129_600_000, '36h'],
    [172_800_000, '2d'],
    [2_592_000_000, '30d'],
    [2_595_600_000, '30d 1h'],
  ])('writes %d as %s', (duration, expected) => {
    expect(formatDuration(duration)).toBe(expected);
  });

  it('writes what parseDuration reads, to within half of the unit that it leaves out', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 400 * 86_400_000 }), (duration) => {
        const again = parseDuration(formatDuration(duration));
        expect(Math.abs(again - duration)).toBeLessThanOrEqual(Math.max(50, duration / 48));
      }),
    );
  });
});
