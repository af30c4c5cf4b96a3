import { expect, it } from 'vitest';
import { messageLife } from '../ledger/outbox.ts';
import { pauseAfter } from './retry-times.ts';

const middle = () => 0.5;

it('attempts go on for as long as a message is kept, with growing pauses', () => {
  const pauses: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const pause = pauseAfter(attempt, 0, middle);
    if (pause === undefined) break;
    pauses.push(pause);
  }
  expect(pauses).toEqual([...pauses].sort((one, other) => one - other));
  expect(pauses[0]).toBe(5_000);
  expect(pauses.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(messageLife);
});

it('a receiver may ask for a longer pause, of a day at most', () => {
  expect(pauseAfter(1, 60_000, middle)).toBe(60_000);
  expect(pauseAfter(1, 1e12, middle)).toBe(86_400_000);
  expect(pauseAfter(3, 60_000, middle)).toBe(30 * 60_000);
});
