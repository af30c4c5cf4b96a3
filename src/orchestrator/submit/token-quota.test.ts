import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';
import { type Place, Room, type RoomLimit } from './token-quota.ts';

const hour = 3_600_000;
const noRoom: BatchFailure = {
  code: 'token_limit_exceeded',
  message: 'full',
  meaning: 'full',
  next: 'later',
};

let clock: ManualClock;
let learnt: RoomLimit[];

beforeEach(() => {
  clock = new ManualClock();
  learnt = [];
});

function openRoom(limit?: RoomLimit): Room {
  return new Room(clock, limit, 28 * hour, (limit) => learnt.push(limit));
}

/** Who is inside, by the order of joining. */
async function inside(...places: readonly Place[]): Promise<boolean[]> {
  await turn();
  return places.map(({ state }) => state !== 'waiting');
}

describe('a batch that is under way already', () => {
  it('takes up room without waiting for it, and gives it back at its end', async () => {
    const room = openRoom({ tokens: 100, named: true });
    const [old, older] = [room.occupy(80), room.occupy(90)];
    const next = room.join(30);
    expect(await inside(next)).toEqual([false]);
    old.leave();
    expect(await inside(next)).toEqual([false]);
    older.leave();
    expect(await inside(next)).toEqual([true]);
  });

  it('says nothing about the room by having been taken in long ago', async () => {
    const room = openRoom();
    room.join(10).refused(noRoom);
    room.occupy(10).proved();
    const next = room.join(10);
    expect(await inside(next)).toEqual([false]);
    clock.advance(5_000);
    expect(await inside(next)).toEqual([true]);
  });
});

describe('a room without a known limit', () => {
  it('lets everyone in', async () => {
    const room = openRoom();
    expect(await inside(...[1, 1_000_000, 5].map((tokens) => room.join(tokens)))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('closes after a refusal, and opens again after a while', async () => {
    const room = openRoom();
    room.join(10).refused(noRoom);
    const next = room.join(10);
    expect(await inside(next)).toEqual([false]);
    clock.advance(5_000);
    expect(await inside(next)).toEqual([true]);
  });

  it('stays closed for as long as the provider asks', async () => {
    const room = openRoom();
    room.join(10).refused({ ...noRoom, retryAfter: 90_000 });
    const next = room.join(10);
    clock.advance(89_000);
    expect(await inside(next)).toEqual([false]);
    clock.advance(1_000);
    expect(await inside(next)).toEqual([true]);
  });

  it('opens at once when a batch has ended', async () => {
    const room = openRoom();
    const under = room.join(10);
    under.proved();
    room.join(10).refused(noRoom);
    const next = room.join(10);
    expect(await inside(next)).toEqual([false]);
    under.leave();
    expect(await inside(next)).toEqual([true]);
  });

  it('tries one at a time after a refusal, until one is taken in', async () => {
    const room = openRoom();
    room.join(10).refused(noRoom);
    const [first, second, third] = [room.join(1), room.join(1), room.join(1)] as const;
    clock.advance(5_000);
    expect(await inside(first, second, third)).toEqual([true, false, false]);
    first.proved();
    expect(await inside(first, second, third)).toEqual([true, true, true]);
  });

  it('waits longer with each refusal in a row, up to ten minutes', async () => {
    const room = openRoom();
    const pauses: number[] = [];
    for (let refusal = 0; refusal < 12; refusal += 1) {
      const before = clock.now();
      const place = room.join(1);
      while (place.state === 'waiting') clock.advance(500);
      pauses.push(clock.now() - before);
      place.refused(noRoom);
    }
    expect(pauses[0]).toBe(0);
    expect(pauses[1]).toBeLessThanOrEqual(5_000);
    expect(Math.max(...pauses)).toBeGreaterThan(5 * 60_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(10 * 60_000);
  });

  it('takes refusals of those that went in together as one', async () => {
    const room = openRoom();
    const places = Array.from({ length: 20 }, () => room.join(1));
    for (const place of places) place.refused(noRoom);
    const next = room.join(1);
    clock.advance(5_000);
    expect(await inside(next)).toEqual([true]);
  });
});

describe('a room after a burst of refusals', () => {
  it('lets the line in when the last of the burst is refused, too', async () => {
    const room = openRoom();
    const [first, second] = [room.join(1), room.join(1)] as const;
    first.refused(noRoom);
    const next = room.join(1);
    clock.advance(10_000);
    expect(await inside(next)).toEqual([false]);
    second.refused(noRoom);
    expect(await inside(next)).toEqual([true]);
  });

  it('takes a refusal of long ago for another story', () => {
    const room = openRoom();
    room.join(10).refused(noRoom);
    clock.advance(30 * hour);
    const next = room.join(10);
    next.refused(noRoom);
    expect(next.isHopeless(10)).toBe(false);
  });
});

describe('what a room learns', () => {
  it('is learnt from a batch that counted as taken in, too', async () => {
    const room = openRoom();
    const place = room.join(5_000);
    place.proved();
    place.refused({ ...noRoom, limit: 1_000 });
    expect(room.limit).toBe(900);
    expect(await inside(room.join(1))).toEqual([false]);
  });

  it('is not crumbs, however long there is no room', () => {
    const room = openRoom();
    for (let refusal = 0; refusal < 200; refusal += 1) {
      const place = room.join(Math.min(1_000_000, room.limit));
      while (place.state === 'waiting') clock.advance(60_000);
      place.refused(noRoom);
    }
    expect(room.limit).toBeGreaterThan(3_000);
  });

  it('is the number that the provider names, with head-room', () => {
    const room = openRoom();
    room.join(5_000).refused({ ...noRoom, limit: 1_000 });
    expect(room.limit).toBe(900);
    expect(learnt).toEqual([{ tokens: 900, named: true }]);
  });

  it('is what fits beside each other, where no number is named', () => {
    const room = openRoom();
    const [a, b] = [room.join(30), room.join(30)];
    a?.proved();
    b?.proved();
    room.join(30).refused(noRoom);
    expect(room.limit).toBe(60);
  });

  it('is never less than a batch that others kept out', () => {
    const room = openRoom();
    room.join(5).proved();
    room.join(500).refused(noRoom);
    expect(room.limit).toBe(500);
  });

  it('is half of a batch that was refused again and again although it was alone', () => {
    const room = openRoom();
    for (let refusal = 0; refusal < 4; refusal += 1) {
      expect(room.limit).toBe(Number.POSITIVE_INFINITY);
      const place = room.join(1_000);
      clock.advance(10 * 60_000);
      place.refused(noRoom);
    }
    expect(room.limit).toBe(500);
  });

  it('grows again when a probe that nearly filled it is taken in', () => {
    const room = openRoom({ tokens: 100, named: false });
    room.join(100).refused(noRoom);
    const probe = room.join(100);
    clock.advance(10_000);
    probe.proved();
    expect(room.limit).toBe(200);
    expect(learnt.at(-1)).toEqual({ tokens: 200, named: false });
  });

  it('stays where the provider has named it', () => {
    const room = openRoom();
    room.join(2_000).refused({ ...noRoom, limit: 1_000 });
    const probe = room.join(900);
    clock.advance(10_000);
    probe.proved();
    expect(room.limit).toBe(900);
  });
});

describe('a room with a limit', () => {
  it('lets in what fits, in the order of joining', async () => {
    const room = openRoom({ tokens: 100, named: true });
    const places = [60, 60, 10].map((tokens) => room.join(tokens));
    // The small one would fit, but who overtakes lets the large one wait for ever.
    expect(await inside(...places)).toEqual([true, false, false]);
    places[0]?.leave();
    expect(await inside(...places)).toEqual([true, true, true]);
  });

  it('lets in alone what is larger than the limit: the count is an estimate', async () => {
    const room = openRoom({ tokens: 100, named: true });
    const small = room.join(1);
    const large = room.join(5_000);
    expect(await inside(small, large)).toEqual([true, false]);
    small.leave();
    expect(await inside(large)).toEqual([true]);
  });

  it('is hopeless for one request that is far larger', () => {
    const room = openRoom({ tokens: 100, named: true });
    expect(room.join(201).isHopeless(1)).toBe(true);
    expect(room.join(201).isHopeless(2)).toBe(false);
    expect(room.join(199).isHopeless(1)).toBe(false);
  });

  it('is hopeless for who was refused for longer than any batch lasts', () => {
    const room = openRoom();
    room.join(10).refused(noRoom);
    const next = room.join(10);
    expect(next.isHopeless(10)).toBe(false);
    clock.advance(29 * hour);
    expect(next.isHopeless(10)).toBe(true);
    next.proved();
    expect(room.join(10).isHopeless(10)).toBe(false);
  });
});

describe('a place', () => {
  it('can be given up in the line', async () => {
    const room = openRoom({ tokens: 10, named: true });
    const [first, second, third] = [room.join(10), room.join(10), room.join(10)] as const;
    second.leave();
    first.leave();
    expect(await inside(third)).toEqual([true]);
  });

  it('is left once, whatever happens to it then', async () => {
    const room = openRoom({ tokens: 10, named: true });
    const first = room.join(10);
    first.leave();
    first.leave();
    first.proved();
    first.refused(noRoom);
    const [second, third] = [room.join(10), room.join(10)] as const;
    expect(await inside(second, third)).toEqual([true, false]);
  });
});

it('gives every place its turn, whatever becomes of the others', async () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom('join', 'prove', 'refuse', 'leave'), fc.nat({ max: 50 })),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      clock = new ManualClock();
      const room = openRoom({ tokens: 60, named: false });
      const places: Place[] = [];
      for (const [step, number] of script) {
        const place = places[number % Math.max(1, places.length)];
        if (step === 'join') places.push(room.join(number));
        else if (step === 'prove') place?.proved();
        else if (step === 'refuse' && place?.state === 'inside') place.refused(noRoom);
        else if (step === 'leave') place?.leave();
      }
      // From here on the provider is well: everything in the line gets in and ends.
      for (let round = 0; places.some(({ state }) => state !== 'gone'); round += 1) {
        expect(round).toBeLessThan(500);
        for (const place of places) if (place.state === 'inside') place.proved();
        for (const place of places) if (place.state === 'proved') place.leave();
        clock.advance(10 * 60_000);
      }
    }),
  );
});
