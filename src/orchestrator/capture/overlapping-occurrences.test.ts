import { describe, expect, it } from 'vitest';
import { OverlappingOccurrences } from './overlapping-occurrences.ts';

const key = 'a fingerprint of thirty-two bytes';

function next(occurrences: OverlappingOccurrences, times: number, sampling = {}): number[] {
  return Array.from({ length: times }, () => occurrences.next(key, sampling));
}

describe('identical calls of clients', () => {
  it('are samples while they are under way, and begin with the first one again afterwards', () => {
    const occurrences = new OverlappingOccurrences();
    expect(next(occurrences, 3)).toEqual([0, 1, 2]);
    occurrences.ended(key, 1);
    expect(next(occurrences, 2)).toEqual([1, 3]);
    for (const one of [0, 1, 2, 3]) occurrences.ended(key, one);
    expect(next(occurrences, 1)).toEqual([0]);
  });

  it('may be tens of thousands', () => {
    const occurrences = new OverlappingOccurrences();
    const asked = next(occurrences, 30_000);
    expect(asked.at(-1)).toBe(29_999);
    for (const one of asked) occurrences.ended(key, one);
    expect(next(occurrences, 1)).toEqual([0]);
  });

  it('that are waited for by who knows them from before are under way, too', () => {
    const occurrences = new OverlappingOccurrences();
    occurrences.begun(key, 0);
    expect(next(occurrences, 1)).toEqual([1]);
  });

  it('of clients that ask again get those under way in turn', () => {
    const occurrences = new OverlappingOccurrences();
    next(occurrences, 2);
    expect(next(occurrences, 3, { again: true })).toEqual([0, 1, 0]);
  });

  it('of a run are counted on, and what was asked again or given back is no new one', () => {
    const occurrences = new OverlappingOccurrences();
    const run = 'monday';
    expect(next(occurrences, 2, { run })).toEqual([0, 1]);
    occurrences.ended(key, 0);
    occurrences.ended(key, 1);
    expect(next(occurrences, 1, { run, again: true })).toEqual([1]);
    occurrences.giveBack(key, 1, { run });
    expect(next(occurrences, 2, { run })).toEqual([1, 2]);
    expect(next(occurrences, 1, { run: 'tuesday', again: true })).toEqual([1]);
  });
});

it('forgets the oldest of a thousand runs', () => {
  const occurrences = new OverlappingOccurrences();
  expect(occurrences.next('a', { run: 'first' })).toBe(0);
  for (let run = 0; run < 1_000; run += 1) occurrences.next('b', { run: `run-${run}` });
  expect(occurrences.next('a', { run: 'first' })).toBe(0);
});
