import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import fc from '../../../test/support/fast-check.ts';
import { Occurrences } from './occurrences.ts';

const keyOf = (name: number) =>
  createHash('sha256').update(String(name)).digest().toString('latin1');

it('counts each fingerprint as a map would', () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 50 })), (names) => {
      const occurrences = new Occurrences();
      const counts = new Map<number, number>();
      for (const name of names) {
        const asked = counts.get(name) ?? 0;
        counts.set(name, asked + 1);
        expect(occurrences.next(keyOf(name))).toBe(asked);
      }
    }),
  );
});

it('grows with the run', () => {
  const occurrences = new Occurrences();
  const names = Array.from({ length: 20_000 }, (_, name) => keyOf(name));
  expect(names.filter((name) => occurrences.next(name) !== 0)).toEqual([]);
  expect(names.filter((name) => occurrences.next(name) !== 1)).toEqual([]);
});

it('tells fingerprints apart that differ in one byte of the first eight', () => {
  const occurrences = new Occurrences();
  const key = keyOf(1);
  for (let at = 0; at < 8; at += 1) {
    const other =
      key.slice(0, at) + String.fromCharCode(key.charCodeAt(at) ^ 1) + key.slice(at + 1);
    expect(occurrences.next(other)).toBe(0);
  }
  expect(occurrences.next(key)).toBe(0);
});

it('hands out what was given back before it counts on', () => {
  const occurrences = new Occurrences();
  const key = keyOf(1);
  for (const expected of [0, 1, 2]) expect(occurrences.next(key)).toBe(expected);
  for (const left of [0, 2]) occurrences.giveBack(key, left);
  const again = [occurrences.next(key), occurrences.next(key)];
  expect(new Set(again)).toEqual(new Set([0, 2]));
  expect(occurrences.next(key)).toBe(3);
  expect(occurrences.next(keyOf(2))).toBe(0);
});
