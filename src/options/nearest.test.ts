import { expect, it } from 'vitest';
import { nearest } from './nearest.ts';
import { optionNames } from './table.ts';

it.each([
  ['max-window', 'maxWindow'],
  ['tag', 'tags'],
  ['provider', 'providers'],
  ['completionwindows', 'completionWindow'],
  ['opll', 'poll'],
  ['BATCH_SIZE', 'batchSize'],
  ['ox', undefined],
  ['', undefined],
  ['timeout', undefined],
  ['x'.repeat(100_000), undefined],
])('%.20s is nearest to %s', (given, expected) => {
  expect(nearest(given, optionNames)).toBe(expected);
});

it('an exact match in other case wins over a neighbour', () => {
  expect(nearest('WINDOW', ['windows', 'window'])).toBe('window');
});
