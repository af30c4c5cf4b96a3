import { expect, it } from 'vitest';
import { OverlappingOccurrences } from './overlapping-occurrences.ts';

it('counts those under way, and begins again when one is over', () => {
  const occurrences = new OverlappingOccurrences();
  expect([occurrences.next('a'), occurrences.next('a'), occurrences.next('b')]).toEqual([0, 1, 0]);
  occurrences.ended('a', 0);
  expect([occurrences.next('a'), occurrences.next('a')]).toEqual([0, 2]);
});

it('gives a client that asks again what is under way, each in turn', () => {
  const occurrences = new OverlappingOccurrences();
  expect(occurrences.next('a', { again: true })).toBe(0);
  expect(occurrences.next('a')).toBe(1);
  const again = [1, 2, 3].map(() => occurrences.next('a', { again: true }));
  expect(again).toEqual([0, 1, 0]);
});

it('counts on in a run that has a name, and for each run anew', () => {
  const occurrences = new OverlappingOccurrences();
  const next = (run: string) => {
    const occurrence = occurrences.next('a', { run });
    occurrences.ended('a', occurrence);
    return occurrence;
  };
  expect([next('one'), next('one'), next('two'), next('one')]).toEqual([0, 1, 0, 2]);
  expect(occurrences.next('a')).toBe(0);
});

it('forgets the oldest of a thousand runs', () => {
  const occurrences = new OverlappingOccurrences();
  expect(occurrences.next('a', { run: 'first' })).toBe(0);
  for (let run = 0; run < 1_000; run += 1) occurrences.next('b', { run: `run-${run}` });
  expect(occurrences.next('a', { run: 'first' })).toBe(0);
});

it('remembers nothing of what is over', () => {
  const occurrences = new OverlappingOccurrences();
  occurrences.next('a');
  occurrences.ended('a', 0);
  occurrences.ended('a', 0);
  occurrences.giveBack('a', 7);
  expect(occurrences.next('a', { again: true })).toBe(0);
});
