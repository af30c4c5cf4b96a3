import { expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { deferred } from '../../concurrency/deferred.ts';
import { unreachablePatience } from '../../concurrency/patience.ts';
import { Room } from './room.ts';

it('lets no call go before it is known whether another process has found it full', async () => {
  const clock = new ManualClock();
  const asked = deferred<number>();
  const room = new Room(clock, { pause: () => asked.promise, closed: () => undefined });
  const isOpen = async () => {
    await room.look();
    return room.isOpen;
  };
  const looks = [isOpen(), isOpen(), isOpen()];
  asked.resolve(60_000);
  expect(await Promise.all(looks)).toEqual([false, false, false]);
});

it('makes nobody pause any more once nobody could be reached for long', () => {
  const clock = new ManualClock();
  const room = new Room(clock, { pause: async () => 0, closed: () => undefined });
  room.unreachable(clock.now());
  expect(room.isOpen).toBe(false);
  clock.advance(unreachablePatience);
  for (let told = 0; told < 3; told += 1) {
    room.unreachable(clock.now());
    expect({ isOpen: room.isOpen, isHopeless: room.isHopeless }).toEqual({
      isOpen: true,
      isHopeless: true,
    });
  }
  room.reached();
  room.unreachable(clock.now());
  expect(room.isOpen).toBe(false);
});

it('tells other processes that a model is full, and not that its server was away', () => {
  const clock = new ManualClock();
  const told: number[] = [];
  const room = new Room(clock, { pause: async () => 0, closed: (pause) => told.push(pause) });
  room.unreachable(clock.now());
  expect({ told, isUnreachable: room.isUnreachable }).toEqual({ told: [], isUnreachable: true });
  clock.advance(60_000);
  room.reached();
  room.close(clock.now());
  expect({ told: told.length, isUnreachable: room.isUnreachable }).toEqual({
    told: 1,
    isUnreachable: false,
  });
});
