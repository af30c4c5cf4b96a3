import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import fc from '../../../test/support/fast-check.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';
import { type Reservation, TokenQuota } from './token-quota.ts';

const hour = 3_600_000;
const noRoom: BatchFailure = {
  code: 'token_limit_exceeded',
  message: 'full',
  meaning: 'full',
  next: 'later',
};

let clock: ManualClock;
let learnt: number[];

beforeEach(() => {
  clock = new ManualClock();
  learnt = [];
});

function openQuota(named?: number): TokenQuota {
  return new TokenQuota(clock, named, 28 * hour, (tokens) => learnt.push(tokens));
}

/** Which of them are granted. */
async function granted(...reservations: readonly Reservation[]): Promise<boolean[]> {
  await turn();
  return reservations.map(({ state }) => state !== 'waiting');
}

describe('a batch that is under way already', () => {
  it('takes up room without waiting for it, and gives it back at its end', async () => {
    const quota = openQuota(100);
    const [old, older] = [quota.occupy(80), quota.occupy(90)];
    const next = quota.reserve(30);
    expect(await granted(next)).toEqual([false]);
    old.leave();
    expect(await granted(next)).toEqual([false]);
    older.leave();
    expect(await granted(next)).toEqual([true]);
  });

  it('says nothing about the quota by having been taken long ago', async () => {
    const quota = openQuota();
    quota.reserve(10).refused(noRoom);
    quota.occupy(10).proved();
    const next = quota.reserve(10);
    expect(await granted(next)).toEqual([false]);
    clock.advance(5_000);
    expect(await granted(next)).toEqual([true]);
  });
});

describe('a quota without a known limit', () => {
  it('grants everything', async () => {
    const quota = openQuota();
    expect(await granted(...[1, 1_000_000, 5].map((tokens) => quota.reserve(tokens)))).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('closes after a refusal, and opens again after a while', async () => {
    const quota = openQuota();
    quota.reserve(10).refused(noRoom);
    const next = quota.reserve(10);
    expect(await granted(next)).toEqual([false]);
    clock.advance(5_000);
    expect(await granted(next)).toEqual([true]);
  });

  it('stays closed for as long as the provider asks', async () => {
    const quota = openQuota();
    quota.reserve(10).refused({ ...noRoom, retryAfter: 90_000 });
    const next = quota.reserve(10);
    clock.advance(89_000);
    expect(await granted(next)).toEqual([false]);
    clock.advance(1_000);
    expect(await granted(next)).toEqual([true]);
  });

  it('opens at once when a batch has ended', async () => {
    const quota = openQuota();
    const under = quota.reserve(10);
    under.proved();
    quota.reserve(10).refused(noRoom);
    const next = quota.reserve(10);
    expect(await granted(next)).toEqual([false]);
    under.leave();
    expect(await granted(next)).toEqual([true]);
  });

  it('tries one at a time after a refusal, until one is taken', async () => {
    const quota = openQuota();
    quota.reserve(10).refused(noRoom);
    const [first, second, third] = [quota.reserve(1), quota.reserve(1), quota.reserve(1)] as const;
    clock.advance(5_000);
    expect(await granted(first, second, third)).toEqual([true, false, false]);
    first.proved();
    expect(await granted(first, second, third)).toEqual([true, true, true]);
  });

  it('waits longer with each refusal in a row, up to ten minutes', async () => {
    const quota = openQuota();
    const pauses: number[] = [];
    for (let refusal = 0; refusal < 12; refusal += 1) {
      const before = clock.now();
      const reservation = quota.reserve(1);
      while (reservation.state === 'waiting') clock.advance(500);
      pauses.push(clock.now() - before);
      reservation.refused(noRoom);
    }
    expect(pauses[0]).toBe(0);
    expect(pauses[1]).toBeLessThanOrEqual(5_000);
    expect(Math.max(...pauses)).toBeGreaterThan(5 * 60_000);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(10 * 60_000);
  });

  it('takes refusals of those that were granted together as one', async () => {
    const quota = openQuota();
    const reservations = Array.from({ length: 20 }, () => quota.reserve(1));
    for (const reservation of reservations) reservation.refused(noRoom);
    const next = quota.reserve(1);
    clock.advance(5_000);
    expect(await granted(next)).toEqual([true]);
  });
});

describe('a quota after a burst of refusals', () => {
  it('goes on when the last of the burst is refused, too', async () => {
    const quota = openQuota();
    const [first, second] = [quota.reserve(1), quota.reserve(1)] as const;
    first.refused(noRoom);
    const next = quota.reserve(1);
    clock.advance(10_000);
    expect(await granted(next)).toEqual([false]);
    second.refused(noRoom);
    expect(await granted(next)).toEqual([true]);
  });
});

describe('what a quota learns', () => {
  it('is learnt from a batch that counted as taken, too', async () => {
    const quota = openQuota();
    const reservation = quota.reserve(5_000);
    reservation.proved();
    reservation.refused({ ...noRoom, limit: 1_000 });
    expect(quota.limit).toBe(900);
    expect(await granted(quota.reserve(1))).toEqual([false]);
  });

  it('is not crumbs, however long there is no room', () => {
    const quota = openQuota();
    for (let refusal = 0; refusal < 200; refusal += 1) {
      const reservation = quota.reserve(Math.min(1_000_000, quota.limit));
      while (reservation.state === 'waiting') clock.advance(60_000);
      reservation.refused(noRoom);
    }
    expect(quota.limit).toBeGreaterThan(3_000);
  });

  it('is the number that the provider names, with head-room', () => {
    const quota = openQuota();
    quota.reserve(5_000).refused({ ...noRoom, limit: 1_000 });
    expect(quota.limit).toBe(900);
    expect(learnt).toEqual([900]);
  });

  it('is what fits beside each other, where no number is named', () => {
    const quota = openQuota();
    const [a, b] = [quota.reserve(30), quota.reserve(30)];
    a?.proved();
    b?.proved();
    quota.reserve(30).refused(noRoom);
    expect(quota.limit).toBe(60);
  });

  it('is never less than a batch that others kept out', () => {
    const quota = openQuota();
    quota.reserve(5).proved();
    quota.reserve(500).refused(noRoom);
    expect(quota.limit).toBe(500);
  });

  it('is half of a batch that was refused again and again although it was alone', () => {
    const quota = openQuota();
    for (let refusal = 0; refusal < 4; refusal += 1) {
      expect(quota.limit).toBe(Number.POSITIVE_INFINITY);
      const reservation = quota.reserve(1_000);
      clock.advance(10 * 60_000);
      reservation.refused(noRoom);
    }
    expect(quota.limit).toBe(500);
  });

  it('grows again when a probe that nearly filled it is taken', () => {
    const quota = openQuota();
    const [a, b] = [quota.reserve(50), quota.reserve(50)];
    a?.proved();
    b?.proved();
    quota.reserve(50).refused(noRoom);
    expect(quota.limit).toBe(100);
    a?.leave();
    quota.reserve(50).proved();
    expect(quota.limit).toBe(200);
  });

  it('stays where the provider has named it', () => {
    const quota = openQuota();
    quota.reserve(2_000).refused({ ...noRoom, limit: 1_000 });
    const probe = quota.reserve(900);
    clock.advance(10_000);
    probe.proved();
    expect(quota.limit).toBe(900);
  });
});

describe('a quota with a limit', () => {
  it('grants what fits, in the order of asking', async () => {
    const quota = openQuota(100);
    const reservations = [60, 60, 10].map((tokens) => quota.reserve(tokens));
    // The small one would fit, but overtaking would let the large one wait for ever.
    expect(await granted(...reservations)).toEqual([true, false, false]);
    reservations[0]?.leave();
    expect(await granted(...reservations)).toEqual([true, true, true]);
  });

  it('grants alone what is larger than the limit: the count is an estimate', async () => {
    const quota = openQuota(100);
    const small = quota.reserve(1);
    const large = quota.reserve(5_000);
    expect(await granted(small, large)).toEqual([true, false]);
    small.leave();
    expect(await granted(large)).toEqual([true]);
  });

  it('is hopeless for one request that is far larger', () => {
    const quota = openQuota(100);
    const request = { noRoom: undefined };
    expect(quota.isHopeless(request, 201, 1)).toBe(true);
    expect(quota.isHopeless(request, 201, 2)).toBe(false);
    expect(quota.isHopeless(request, 199, 1)).toBe(false);
  });
});

describe('a reservation', () => {
  it('can be given up while it waits', async () => {
    const quota = openQuota(10);
    const [first, second, third] = [
      quota.reserve(10),
      quota.reserve(10),
      quota.reserve(10),
    ] as const;
    second.leave();
    first.leave();
    expect(await granted(third)).toEqual([true]);
  });

  it('is left once, whatever happens to it then', async () => {
    const quota = openQuota(10);
    const first = quota.reserve(10);
    first.leave();
    first.leave();
    first.proved();
    first.refused(noRoom);
    const [second, third] = [quota.reserve(10), quota.reserve(10)] as const;
    expect(await granted(second, third)).toEqual([true, false]);
  });
});

it('grants every reservation in the end, whatever becomes of the others', async () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom('join', 'prove', 'refuse', 'leave'), fc.nat({ max: 50 })),
    { maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      clock = new ManualClock();
      const quota = openQuota(60);
      const reservations: Reservation[] = [];
      for (const [step, number] of script) {
        const reservation = reservations[number % Math.max(1, reservations.length)];
        if (step === 'join') reservations.push(quota.reserve(number));
        else if (step === 'prove') reservation?.proved();
        else if (step === 'refuse' && reservation?.state === 'granted') reservation.refused(noRoom);
        else if (step === 'leave') reservation?.leave();
      }
      // From here on the provider is well: everything that waits is granted and ends.
      for (let round = 0; reservations.some(({ state }) => state !== 'gone'); round += 1) {
        expect(round).toBeLessThan(500);
        for (const reservation of reservations)
          if (reservation.state === 'granted') reservation.proved();
        for (const reservation of reservations)
          if (reservation.state === 'proved') reservation.leave();
        clock.advance(10 * 60_000);
      }
    }),
  );
});
