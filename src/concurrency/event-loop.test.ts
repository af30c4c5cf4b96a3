import { afterEach, expect, it, vi } from 'vitest';
import { inTurns, Slice } from './event-loop.ts';

afterEach(() => vi.useRealTimers());

/** Turns of the event loop that pass until the work is done. */
async function turnsOf(work: () => Promise<void>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

it('a slice that is over lets the event loop turn, and then another begins', async () => {
  const slice = new Slice();
  const turns = await turnsOf(async () => {
    for (let next = 0; next < 5; next += 1) await slice.next();
  });
  expect(turns).toBeGreaterThanOrEqual(5);
});

it('a slice is over after some milliseconds, and not before', async () => {
  // On a busy machine milliseconds pass between two lines.
  vi.useFakeTimers({ toFake: ['performance'] });
  const slice = new Slice();
  await slice.next();
  expect(slice.isOver).toBe(false);
  vi.advanceTimersByTime(10);
  expect(slice.isOver).toBe(true);
});

it('many callers are told in turns, all of them, in their order', async () => {
  const items = Array.from({ length: 1_000 }, (_, index) => index);
  const told: number[] = [];
  const turns = await turnsOf(() => inTurns(items, (item) => told.push(item)));
  expect(told).toEqual(items);
  expect(turns).toBeGreaterThanOrEqual(10);
});
