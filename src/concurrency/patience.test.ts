import { expect, it } from 'vitest';
import { ManualClock } from '../../test/support/clocks/manual-clock.ts';
import { Patience } from './patience.ts';

const minute = 60_000;
const unreachable = { limited: true };
const noRoom = { limited: false };

it('lasts a quarter of an hour from the first failure, however long the step took', () => {
  const clock = new ManualClock();
  const patience = new Patience(clock);
  clock.advance(20 * minute);
  expect(patience.isOver(unreachable)).toBe(false);
  clock.advance(14 * minute);
  expect(patience.isOver(unreachable)).toBe(false);
  clock.advance(minute);
  expect(patience.isOver(unreachable)).toBe(true);
});

it('does not count the time for which the step waited for something else', () => {
  const clock = new ManualClock();
  const patience = new Patience(clock);
  expect(patience.isOver(unreachable)).toBe(false);
  clock.advance(600 * minute);
  patience.excuse(599 * minute);
  expect(patience.isOver(unreachable)).toBe(false);
  clock.advance(14 * minute);
  expect(patience.isOver(unreachable)).toBe(true);
});

it('begins anew after the provider has been reached and had no room', () => {
  const clock = new ManualClock();
  const patience = new Patience(clock);
  expect(patience.isOver(unreachable)).toBe(false);
  clock.advance(20 * minute);
  expect(patience.isOver(noRoom)).toBe(false);
  expect(patience.isOver(unreachable)).toBe(false);
});

it('with a provider that has no room ends when no other batch can take it up any longer', () => {
  const clock = new ManualClock();
  const patience = new Patience(clock, 28 * 60 * minute);
  expect(patience.isOver(noRoom)).toBe(false);
  clock.advance(27 * 60 * minute);
  expect(patience.isOver(unreachable)).toBe(false);
  expect(patience.isOver(noRoom)).toBe(false);
  clock.advance(60 * minute);
  expect(patience.isOver(noRoom)).toBe(true);
});
