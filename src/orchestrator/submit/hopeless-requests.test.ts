import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { BatchFailure } from '../../batchers/batcher.ts';
import type { Request } from '../model/request.ts';
import { type Reservation, TokenQuota } from './token-quota.ts';

const minute = 60_000;
const hour = 60 * minute;
const noRoom: BatchFailure = {
  code: 'token_limit_exceeded',
  message: 'full',
  meaning: 'full',
  next: 'later',
};
const named: BatchFailure = { ...noRoom, limit: 1_000 };

let clock: ManualClock;
let quota: TokenQuota;

beforeEach(() => {
  clock = new ManualClock();
  quota = new TokenQuota(clock, undefined, 28 * hour, () => undefined);
});

type First = Pick<Request, 'noRoom'>;

interface Tried {
  readonly first: First;
  readonly tokens: number;
  readonly count?: number;
}

function enter({ first, tokens }: Tried): Reservation {
  const reservation = quota.reserve(tokens, first);
  while (reservation.state === 'waiting') clock.advance(5_000);
  return reservation;
}

function newFirst(): First {
  return { noRoom: undefined };
}

function isHopeless({ first, tokens, count = 1 }: Tried): boolean {
  return quota.isHopeless(first, tokens, count);
}

/** Tries again and again for so long; returns after how much time it is hopeless, if it is. */
function refusedFor(
  time: number,
  tried: Tried,
  failure: BatchFailure,
  between: () => void = () => undefined,
): number | undefined {
  const start = clock.now();
  while (clock.now() - start < time) {
    const reservation = enter(tried);
    reservation.refused(failure);
    if (isHopeless(tried)) return clock.now() - start;
    between();
  }
  return undefined;
}

/** Another batch is taken in and ends. */
function passThrough(tokens: number): void {
  const reservation = enter({ first: newFirst(), tokens });
  reservation.proved();
  clock.advance(minute);
  reservation.leave();
}

describe('one request that is a little larger than the named limit', () => {
  it('is told after some refusals, minutes apart', () => {
    const told = refusedFor(2 * hour, { first: newFirst(), tokens: 1_200 }, named);
    expect(told).toBeGreaterThanOrEqual(10 * minute);
    expect(told).toBeLessThan(40 * minute);
  });

  it('is told although others are taken in meanwhile', () => {
    const told = refusedFor(2 * hour, { first: newFirst(), tokens: 1_200 }, named, () =>
      passThrough(10),
    );
    expect(told).toBeGreaterThan(10 * minute);
    expect(told).toBeLessThan(40 * minute);
  });

  it('waits on if refusals come in one burst', () => {
    const tried = { first: newFirst(), tokens: 1_200 };
    expect(refusedFor(4 * minute, tried, named)).toBeUndefined();
  });

  it('waits on while something of ours is inside', () => {
    const large = quota.occupy(900);
    const tried = { first: newFirst(), tokens: 1_200 };
    for (let refusal = 0; refusal < 20; refusal += 1) {
      quota.occupy(tried.tokens, tried.first).refused(named);
      clock.advance(10 * minute);
      expect(isHopeless(tried)).toBe(false);
    }
    large.leave();
  });

  it('begins anew after it was taken in and has ended', () => {
    const tried = { first: newFirst(), tokens: 1_200 };
    for (let round = 0; round < 3; round += 1) {
      for (let refusal = 0; refusal < 2; refusal += 1) {
        const refused = enter(tried);
        refused.refused(named);
        expect(isHopeless(tried)).toBe(false);
        clock.advance(10 * minute);
      }
      const reservation = enter(tried);
      reservation.proved();
      reservation.leave();
    }
  });
});

it.each([
  ['one that is not larger than the limit', { first: newFirst(), tokens: 950 }, named],
  ['several', { first: newFirst(), tokens: 1_200, count: 2 }, named],
  ['one where no limit is named', { first: newFirst(), tokens: 1_200 }, noRoom],
] as const)('%s may wait for a day', (_, tried, failure) => {
  expect(refusedFor(24 * hour, tried, failure)).toBeUndefined();
});

describe('where smaller ones are taken in again and again', () => {
  it('a larger one does not wait for ever', () => {
    const tried = { first: newFirst(), tokens: 1_000 };
    const told = refusedFor(100 * hour, tried, noRoom, () => passThrough(10));
    expect(told).toBeGreaterThan(28 * hour);
    expect(told).toBeLessThan(30 * hour);
  });

  it('a larger group is sent in parts', () => {
    const tried = { first: newFirst(), tokens: 1_000, count: 10 };
    refusedFor(hour, tried, noRoom, () => passThrough(10));
    expect(quota.limit).toBeLessThan(1_000);
  });

  it('what was refused long ago, and then waited in line, is not told at its second refusal', () => {
    const tried = { first: newFirst(), tokens: 1_000 };
    enter(tried).refused(noRoom);
    for (let hours = 0; hours < 40; hours += 1) {
      passThrough(10);
      clock.advance(hour);
    }
    enter(tried).refused(noRoom);
    expect(isHopeless(tried)).toBe(false);
  });
});
