import { describe, expect, it } from 'vitest';
import { planRuns } from './plan.ts';

describe('planRuns', () => {
  it('makes one run of consecutive ids', () => {
    expect(planRuns([5, 6, 7])).toEqual([[{ first: 5, count: 3, seq: 0 }]]);
  });

  it('keeps the order where ids are not consecutive', () => {
    expect(planRuns([5, 6, 3, 4, 9])).toEqual([
      [
        { first: 5, count: 2, seq: 0 },
        { first: 3, count: 2, seq: 2 },
        { first: 9, count: 1, seq: 4 },
      ],
    ]);
  });

  it('splits what is too much for one transaction', () => {
    const consecutive = Array.from({ length: 10_000 }, (_, index) => index + 1);
    expect(planRuns(consecutive).map((group) => group.map(({ count }) => count))).toEqual([
      [2_500],
      [2_500],
      [2_500],
      [2_500],
    ]);
    expect(planRuns(consecutive.reverse()).map((group) => group.length)).toEqual(
      Array.from({ length: 20 }, () => 500),
    );
  });

  it('gives one empty transaction for no members', () => {
    expect(planRuns([])).toEqual([[]]);
  });
});
