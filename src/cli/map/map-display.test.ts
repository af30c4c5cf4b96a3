import { expect, it } from 'vitest';
import { jobLine } from './map-display.ts';

const facts = {
  lines: 50_000,
  read: 50_000,
  sent: 48_000,
  done: 12_345,
  failed: 20,
  perMinute: 3_000,
  left: 720_000,
  paid: 1.234,
  saved: 1.234,
};

it('says everything where there is room', () => {
  expect(jobLine(facts)).toBe(
    '12,345 of 50,000 lines done, 20 failed, 50,000 read, 48,000 sent, 3,000 a minute, about 12m left, paid $1.23, saved $1.23',
  );
});

it.each([
  [68, '12,345 of 50,000 lines done, 20 failed, about 12m left, saved $1.23'],
  [38, '12,345 of 50,000 done, about 12m left'],
  [20, '12,345 of 50,000 done'],
])('leaves out what counts least, and cuts no number: %i columns', (columns, line) => {
  expect(jobLine(facts, columns)).toBe(line);
});

it('says nothing of what there is not', () => {
  const begun = { ...facts, done: 0, failed: 0, perMinute: 0, left: undefined, paid: 0, saved: 0 };
  expect(jobLine(begun)).toBe('0 of 50,000 lines done, 50,000 read, 48,000 sent');
  expect(jobLine(begun, 38)).toBe('0 of 50,000 done, 48,000 sent');
});
