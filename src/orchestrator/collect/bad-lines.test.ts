import { describe, expect, it } from 'vitest';
import { accusedBy } from './bad-lines.ts';

const answer = (body: string) => ({ status: 400, headers: {}, body });
const bad = (...lines: number[]) =>
  lines.map((line) => ({ line, answer: answer(`line ${line} is bad`) }));
const places = (lines: readonly number[], size: number) =>
  accusedBy(bad(...lines), size).suspects.map((group) => [...group]);

describe('the lines that a provider names', () => {
  it('are suspected whether they count from one or from zero, each reading apart', () => {
    expect(places([2], 4)).toEqual([[1], [2]]);
    expect(places([1, 3], 9)).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });

  it('are in one group only', () => {
    expect(places([2, 3], 9)).toEqual([[1, 2], [3]]);
  });

  it('need not be there in both readings', () => {
    expect(places([0], 4)).toEqual([[0]]);
    expect(places([4], 4)).toEqual([[3]]);
    expect(places([99, 1.5, -3], 4)).toEqual([]);
  });

  it('prove nothing as long as one line is not named', () => {
    expect(accusedBy(bad(1, 2), 3).proved.size).toBe(0);
  });

  it.each([
    ['from one', [3, 1, 2]],
    ['from zero', [2, 0, 1]],
  ])('prove all of them when all are named, each with its reason, counted %s', (_from, lines) => {
    const { proved, suspects } = accusedBy(bad(...lines, ...lines), 3);
    const first = Math.min(...lines);
    expect(suspects).toEqual([]);
    expect([...proved]).toEqual([0, 1, 2].map((at) => [at, answer(`line ${first + at} is bad`)]));
  });

  it('prove the only line, whatever its number', () => {
    for (const line of [0, 1, 7]) expect(accusedBy(bad(line), 1).proved.size).toBe(1);
  });
});
